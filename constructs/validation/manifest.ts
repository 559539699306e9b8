/** Manifests as the rules read them: nothing about their form is known. */

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/** A value and its path in the manifest. */
export class Place {
  constructor(
    readonly value: unknown,
    readonly path: string,
  ) {}

  /** A field at a path like `template.spec`; its value is undefined if there is none. */
  field(path: string): Place {
    return path
      .split('.')
      .reduce<Place>(
        ({ value, path: parent }, key) =>
          new Place(fieldsOf(value)[key], parent === '' ? key : `${parent}.${key}`),
        this,
      );
  }

  /** The items of a list. */
  items(): Place[] {
    const { value, path } = this;
    return Array.isArray(value) ? value.map((item, index) => new Place(item, `${path}[${index}]`)) : [];
  }

  /** The entries of a map. */
  entries(): [key: string, place: Place][] {
    return Object.entries(fieldsOf(this.value)).map(([key, value]) => [
      key,
      new Place(value, `${this.path}.${key}`),
    ]);
  }

  get exists(): boolean {
    return this.value !== undefined && this.value !== null;
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

export function isManifest(value: unknown): value is Manifest {
  const { apiVersion, kind, metadata } = fieldsOf(value);
  return (
    typeof apiVersion === 'string' && typeof kind === 'string' && typeof fieldsOf(metadata).name === 'string'
  );
}

/** Where each kind has the spec of its pods. */
const POD_SPECS: Readonly<Record<string, string>> = {
  'v1 Pod': 'spec',
  'v1 PodTemplate': 'template.spec',
  'v1 ReplicationController': 'spec.template.spec',
  'apps/v1 DaemonSet': 'spec.template.spec',
  'apps/v1 Deployment': 'spec.template.spec',
  'apps/v1 ReplicaSet': 'spec.template.spec',
  'apps/v1 StatefulSet': 'spec.template.spec',
  'batch/v1 CronJob': 'spec.jobTemplate.spec.template.spec',
  'batch/v1 Job': 'spec.template.spec',
};

/** The spec of the pods of an object; undefined for kinds without pods. */
export function podSpec(manifest: Manifest): Place | undefined {
  const path = POD_SPECS[`${manifest.apiVersion} ${manifest.kind}`];
  return path === undefined ? undefined : new Place(manifest, '').field(path);
}

/** All containers of pods. */
export function podContainers(spec: Place): Place[] {
  return ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) => spec.field(list).items());
}

/** The containers that users describe: those of pods, and those of a MiniCluster. */
export function containersOf(manifest: Manifest): Place[] {
  const spec = podSpec(manifest);
  if (spec !== undefined) return podContainers(spec);
  if (!isMiniCluster(manifest)) return [];
  const cluster = new Place(manifest, '').field('spec');
  return ['containers', 'services'].flatMap((list) => cluster.field(list).items());
}

export function isMiniCluster({ apiVersion, kind }: Manifest): boolean {
  return kind === 'MiniCluster' && apiVersion === 'flux-framework.org/v1alpha2';
}

export function isFluxSetup({ apiVersion, kind }: Manifest): boolean {
  return kind === 'FluxSetup' && apiVersion === 'flux-framework.org/v1alpha1';
}
