/** Where volumes are, from the watches of claims, volumes and storage classes. */
import type { StorageFacts } from '../jobspec/volumes';
import type { StorageClass } from '../kubernetes/types';
import type { Informers } from './informers';

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

export function storageFacts({
  claims,
  volumes,
  storageClasses,
}: Pick<Informers, 'claims' | 'volumes' | 'storageClasses'>): StorageFacts {
  return {
    claim: (namespace, name) => claims.get(`${namespace}/${name}`),
    volume: (name) => volumes.get(name),
    volumesOfClass: (name) => volumes.byIndex('class', name),
    storageClass: (name) =>
      name === undefined ? storageClasses.list().find(isDefault) : storageClasses.get(name),
  };
}

function isDefault({ metadata }: StorageClass): boolean {
  return metadata.annotations?.[DEFAULT_CLASS] === 'true';
}
