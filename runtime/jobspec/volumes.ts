/**
 * From the volumes of a pod to constraints on its nodes. A bound volume has node affinity. A claim that is bound with its
 * first consumer may use a free volume, or one that is made within the topologies of its StorageClass.
 */
import {
  alternatives,
  type ClusterFacts,
  conjunction,
  EVERY,
  labelIn,
  selectorConstraint,
} from './constraints';
import { type Labels, selects } from './label-selector';
import type { NodeSelectorTerm, PodSpec, Quantities, Volume, VolumeClaimSpec } from './pod';
import { parseQuantity } from './quantity';
import type { Constraint } from './types';

interface Named {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Labels };
}

export interface Claim extends Named {
  readonly spec: VolumeClaimSpec;
}

export interface PersistentVolumeFacts extends Named {
  readonly spec: {
    readonly storageClassName?: string;
    readonly capacity?: Quantities;
    readonly accessModes?: readonly string[];
    readonly claimRef?: { readonly namespace?: string; readonly name?: string };
    readonly nodeAffinity?: {
      readonly required?: { readonly nodeSelectorTerms: readonly NodeSelectorTerm[] };
    };
  };
  readonly status?: { readonly phase?: string };
}

export interface StorageClassFacts extends Named {
  readonly provisioner: string;
  readonly volumeBindingMode?: string;
  readonly allowedTopologies?: readonly {
    readonly matchLabelExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[];
  }[];
}

/** The objects that decide where volumes are. */
export interface StorageFacts {
  claim(namespace: string, name: string): Claim | undefined;
  volume(name: string): PersistentVolumeFacts | undefined;
  volumesOfClass(storageClass: string): readonly PersistentVolumeFacts[];
  /** @param name undefined: the default class */
  storageClass(name: string | undefined): StorageClassFacts | undefined;
}

export interface VolumeContext {
  readonly storage: StorageFacts;
  readonly facts: ClusterFacts;
  readonly namespace: string;
  /** Name of the pod; undefined for a pod template. */
  readonly podName: string | undefined;
  /** Number of pods with these volumes. */
  readonly pods: number;
}

export interface VolumePlacement {
  /** `{}` if the volumes are everywhere. */
  readonly constraint: Constraint;
  /** Labels whose value has to be the same on the nodes of all pods: these share a claim that is not bound yet. */
  readonly jointly: readonly string[];
  /** Claims that the constraint was made from. */
  readonly claims: readonly string[];
  /** Paths of volumes about which something is not known. */
  readonly unmodeled: readonly string[];
}

/** Where one volume may be. */
interface Place {
  readonly constraint: Constraint;
  readonly keys: readonly string[];
  /** What is not known about it. */
  readonly unknown?: string;
}

const ANYWHERE: Place = { constraint: EVERY, keys: [] };
/** A class of volumes that an administrator makes by hand. */
const NO_PROVISIONER = 'kubernetes.io/no-provisioner';
/** Labels of volumes of old drivers; several values are separated by `__`. */
const ZONE_LABELS = [
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
];

/** @returns undefined for a pod without claims */
export function volumePlacement(
  { volumes = [] }: PodSpec,
  context: VolumeContext,
): VolumePlacement | undefined {
  const claimed = volumes.flatMap((volume, i) => {
    const place = placeOf(volume, context);
    return place === undefined ? [] : [{ ...place, path: `volumes[${i}]`, volume }];
  });
  if (claimed.length === 0) return undefined;
  return {
    constraint: conjunction(claimed.map(({ constraint }) => constraint)),
    jointly: [...new Set(claimed.flatMap(({ keys }) => keys))].sort(),
    claims: claimed.map(({ volume }) => claimName(volume, context)).filter((name) => name !== ''),
    unmodeled: claimed.flatMap(({ path, unknown }) =>
      unknown === undefined ? [] : [`${path} (${unknown})`],
    ),
  };
}

function claimName({ name, persistentVolumeClaim }: Volume, { podName }: VolumeContext): string {
  return persistentVolumeClaim?.claimName ?? (podName === undefined ? '' : `${podName}-${name}`);
}

/** @returns undefined for a volume that is no claim */
function placeOf(volume: Volume, context: VolumeContext): Place | undefined {
  const { persistentVolumeClaim, ephemeral } = volume;
  if (persistentVolumeClaim === undefined && ephemeral === undefined) return undefined;
  const name = claimName(volume, context);
  const claim = name === '' ? undefined : context.storage.claim(context.namespace, name);
  if (claim !== undefined) return placeOfClaim(claim, persistentVolumeClaim !== undefined, context);
  const spec = ephemeral?.volumeClaimTemplate?.spec;
  if (spec !== undefined) return placeOfUnbound({ metadata: { name: '' }, spec }, false, context);
  return { ...ANYWHERE, unknown: `PersistentVolumeClaim ${name} does not exist` };
}

/** @param shared whether all pods use the same claim */
function placeOfClaim(claim: Claim, shared: boolean, context: VolumeContext): Place {
  const { volumeName = '', accessModes = [] } = claim.spec;
  const place =
    volumeName === '' ? placeOfUnbound(claim, shared, context) : placeOfBound(volumeName, context);
  // kube-scheduler lets only one pod at a time use such a claim.
  return accessModes.includes('ReadWriteOncePod') ? { ...place, unknown: 'ReadWriteOncePod' } : place;
}

function placeOfBound(volumeName: string, { storage, facts }: VolumeContext): Place {
  const volume = storage.volume(volumeName);
  if (volume === undefined) return { ...ANYWHERE, unknown: `PersistentVolume ${volumeName} does not exist` };
  return { constraint: nodesOf(volume, facts), keys: [] };
}

function placeOfUnbound(claim: Claim, shared: boolean, context: VolumeContext): Place {
  const { storage, facts, pods } = context;
  const storageClass = storage.storageClass(claim.spec.storageClassName);
  if (storageClass?.volumeBindingMode !== 'WaitForFirstConsumer')
    return { ...ANYWHERE, unknown: 'the claim is not bound' };
  const free = storage
    .volumesOfClass(storageClass.metadata.name)
    .filter((volume) => isFreeFor(volume, claim, context));
  const made = storageClass.provisioner !== NO_PROVISIONER;
  const { allowedTopologies = [] } = storageClass;
  const constraint = alternatives([
    ...free.map((volume) => nodesOf(volume, facts)),
    ...(made ? [topologies(allowedTopologies)] : []),
  ]);
  if (pods === 1) return { constraint, keys: [] };
  const keys = [...free.flatMap(keysOfVolume), ...allowedTopologies.flatMap(keysOfTopology)];
  if (!shared && !made) return { constraint, keys: [], unknown: 'the number of free volumes of each node' };
  if (!shared) return { constraint, keys: [] };
  const isKnown = !made || allowedTopologies.length > 0;
  return { constraint, keys, ...(isKnown ? {} : { unknown: 'where the volume will be made' }) };
}

/** Node affinity of a volume, and the zones of its labels. */
function nodesOf(
  { metadata: { labels = {} }, spec }: PersistentVolumeFacts,
  facts: ClusterFacts,
): Constraint {
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms;
  return conjunction([
    terms === undefined ? EVERY : selectorConstraint(terms, facts),
    ...ZONE_LABELS.filter((key) => labels[key] !== undefined).map((key) =>
      labelIn(key, labels[key]!.split('__')),
    ),
  ]);
}

type Topologies = NonNullable<StorageClassFacts['allowedTopologies']>;

function topologies(allowed: Topologies): Constraint {
  if (allowed.length === 0) return EVERY;
  return alternatives(
    allowed.map(({ matchLabelExpressions = [] }) =>
      conjunction(matchLabelExpressions.map(({ key, values }) => labelIn(key, values))),
    ),
  );
}

function keysOfTopology({ matchLabelExpressions = [] }: Topologies[number]): readonly string[] {
  return matchLabelExpressions.map(({ key }) => key);
}

function keysOfVolume({ spec }: PersistentVolumeFacts): readonly string[] {
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return terms.flatMap(({ matchExpressions = [] }) => matchExpressions.map(({ key }) => key));
}

/** Whether the volume may be bound to the claim. */
function isFreeFor(
  { metadata: { labels = {} }, spec, status }: PersistentVolumeFacts,
  { metadata: { name }, spec: wanted }: Claim,
  { namespace }: VolumeContext,
): boolean {
  const { claimRef, accessModes = [], capacity = {} } = spec;
  const isFree = claimRef === undefined || (claimRef.namespace === namespace && claimRef.name === name);
  const size = (quantities: Quantities | undefined) => parseQuantity(quantities?.storage ?? 0, 'storage');
  return (
    isFree &&
    status?.phase !== 'Released' &&
    status?.phase !== 'Failed' &&
    (wanted.accessModes ?? []).every((mode) => accessModes.includes(mode)) &&
    size(capacity) >= size(wanted.resources?.requests) &&
    (wanted.selector === undefined || selects(wanted.selector, labels))
  );
}

/** No storage is known: every claim is unknown. */
export const NO_STORAGE: StorageFacts = {
  claim: () => undefined,
  volume: () => undefined,
  volumesOfClass: () => [],
  storageClass: () => undefined,
};
