/** On which nodes the volumes of a pod are, or can be. */
import { matches, NO_FACTS } from '../../runtime/jobspec/constraints';
import type { PodSpec, VolumeClaimSpec } from '../../runtime/jobspec/pod';
import {
  type Claim,
  NO_STORAGE,
  type PersistentVolumeFacts,
  type StorageClassFacts,
  type StorageFacts,
  type VolumePlacement,
  volumePlacement,
} from '../../runtime/jobspec/volumes';

const ZONE = 'topology.kubernetes.io/zone';
const NODES = ['a', 'b', 'c'].map((name) => ({
  name,
  units: {},
  properties: [`kubernetes.io/hostname=${name}`, `${ZONE}=${name === 'a' ? 'east' : 'west'}`],
}));

const on = (key: string, ...values: string[]) => ({
  nodeAffinity: {
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values }] }] },
  },
});
const onNode = (name: string) => on('kubernetes.io/hostname', name);
const volume = (
  name: string,
  spec: PersistentVolumeFacts['spec'] = {},
  more: Partial<PersistentVolumeFacts> = {},
): PersistentVolumeFacts => ({
  metadata: { name },
  spec: { storageClassName: 'local', capacity: { storage: '10Gi' }, accessModes: ['ReadWriteOnce'], ...spec },
  ...more,
});
const local: StorageClassFacts = {
  metadata: { name: 'local' },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
};
const cloud: StorageClassFacts = { ...local, metadata: { name: 'cloud' }, provisioner: 'csi.example.com' };
const west = { matchLabelExpressions: [{ key: ZONE, values: ['west'] }] };
const unbound: VolumeClaimSpec = {
  storageClassName: 'local',
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '5Gi' } },
};

interface Given {
  readonly claim?: VolumeClaimSpec;
  readonly volumes?: readonly PersistentVolumeFacts[];
  readonly classes?: readonly StorageClassFacts[];
  readonly pods?: number;
  readonly pod?: Partial<PodSpec>;
  readonly podName?: string;
  readonly claimName?: string;
}

const DATA = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] };

function placed({
  claim,
  volumes = [],
  classes = [local],
  pods = 1,
  pod = DATA,
  podName,
  claimName = 'data',
}: Given) {
  const claims: readonly Claim[] =
    claim === undefined ? [] : [{ metadata: { name: claimName, namespace: 'science' }, spec: claim }];
  const storage: StorageFacts = {
    claim: (namespace, name) =>
      claims.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    volume: (name) => volumes.find(({ metadata }) => metadata.name === name),
    volumesOfClass: (name) => volumes.filter(({ spec }) => spec.storageClassName === name),
    storageClass: (name) => classes.find(({ metadata }) => metadata.name === (name ?? 'cloud')),
  };
  return volumePlacement(
    { containers: [], ...pod },
    { storage, facts: NO_FACTS, namespace: 'science', podName, pods },
  );
}

const nodesOf = ({ constraint }: VolumePlacement) =>
  NODES.filter((node) => matches(constraint, node))
    .map(({ name }) => name)
    .join('');

const free = (name: string, over: PersistentVolumeFacts['spec'] = {}) =>
  volume(`pv-${name}`, { ...onNode(name), ...over });
const bound = { ...unbound, volumeName: 'pv' };
const anEphemeral = (spec: VolumeClaimSpec) => ({
  volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec } } }],
});

/** The nodes, and what is not known. */
const ROWS: readonly [string, Given, string, ...string[]][] = [
  ['a bound local volume', { claim: bound, volumes: [volume('pv', onNode('b'))] }, 'b'],
  ['a bound zonal volume', { claim: bound, volumes: [volume('pv', on(ZONE, 'west'))] }, 'bc'],
  ['a bound volume without a place', { claim: bound, volumes: [volume('pv')] }, 'abc'],
  [
    'zones in the labels of a bound volume',
    {
      claim: bound,
      volumes: [volume('pv', {}, { metadata: { name: 'pv', labels: { [ZONE]: 'east__north' } } })],
    },
    'a',
  ],
  ['a volume that is gone', { claim: bound }, 'abc', 'PersistentVolume pv does not exist'],
  ['no claim', {}, 'abc', 'PersistentVolumeClaim data does not exist'],
  ['free local volumes', { claim: unbound, volumes: [free('a'), free('c')] }, 'ac'],
  ['no free local volume', { claim: unbound }, ''],
  ['one that is too small', { claim: unbound, volumes: [free('a', { capacity: { storage: '4Gi' } })] }, ''],
  [
    'one with another access mode',
    { claim: unbound, volumes: [free('a', { accessModes: ['ReadOnlyMany'] })] },
    '',
  ],
  [
    'one of another claim',
    { claim: unbound, volumes: [free('a', { claimRef: { namespace: 'x', name: 'data' } })] },
    '',
  ],
  [
    'one that is kept for the claim',
    { claim: unbound, volumes: [free('a', { claimRef: { namespace: 'science', name: 'data' } })] },
    'a',
  ],
  [
    'one that was released',
    { claim: unbound, volumes: [{ ...free('a'), status: { phase: 'Released' } }] },
    '',
  ],
  [
    'one that the claim does not select',
    { claim: { ...unbound, selector: { matchLabels: { disk: 'fast' } } }, volumes: [free('a')] },
    '',
  ],
  [
    'a class that makes volumes anywhere',
    { claim: { ...unbound, storageClassName: 'cloud' }, classes: [cloud] },
    'abc',
  ],
  [
    'or in some zones',
    { claim: { ...unbound, storageClassName: 'cloud' }, classes: [{ ...cloud, allowedTopologies: [west] }] },
    'bc',
  ],
  [
    'or beside a free one',
    {
      claim: { ...unbound, storageClassName: 'cloud' },
      classes: [{ ...cloud, allowedTopologies: [west] }],
      volumes: [free('a', { storageClassName: 'cloud' })],
    },
    'abc',
  ],
  [
    'the default class',
    { claim: { accessModes: [] }, classes: [{ ...cloud, allowedTopologies: [west] }] },
    'bc',
  ],
  [
    'a claim that is bound without a consumer',
    { claim: unbound, classes: [{ ...local, volumeBindingMode: 'Immediate' }] },
    'abc',
    'the claim is not bound',
  ],
  [
    'a claim for one pod only',
    { claim: { ...bound, accessModes: ['ReadWriteOncePod'] }, volumes: [volume('pv', onNode('b'))] },
    'b',
    'ReadWriteOncePod',
  ],
  [
    'an ephemeral volume',
    {
      pod: anEphemeral({ ...unbound, storageClassName: 'cloud' }),
      classes: [{ ...cloud, allowedTopologies: [west] }],
    },
    'bc',
  ],
  [
    'the claim of an ephemeral volume',
    {
      pod: anEphemeral(unbound),
      podName: 'p',
      claimName: 'p-scratch',
      claim: bound,
      volumes: [volume('pv', onNode('b'))],
    },
    'b',
  ],
  [
    'free local volumes for each pod of a gang',
    { pods: 2, pod: anEphemeral(unbound), volumes: [free('a')] },
    'a',
    'the number of free volumes of each node',
  ],
];

test.each(ROWS)('%s', (_, given, nodes, ...unknown) => {
  const placement = placed(given)!;
  expect(nodesOf(placement)).toBe(nodes);
  expect(placement.unmodeled).toEqual(unknown.map((what) => `volumes[0] (${what})`));
  expect(placement.jointly).toEqual([]);
});

test('a pod without claims has no place', () => {
  expect(placed({ pod: { volumes: [{ name: 'scratch' }] } })).toBeUndefined();
  expect(
    volumePlacement(
      { containers: [] },
      { storage: NO_STORAGE, facts: NO_FACTS, namespace: '', podName: undefined, pods: 1 },
    ),
  ).toBeUndefined();
});

test('several volumes have to be on the same node', () => {
  const both = {
    volumes: [...DATA.volumes, ...anEphemeral({ ...unbound, storageClassName: 'cloud' }).volumes],
  };
  const classes = [local, { ...cloud, allowedTopologies: [west] }];
  const placement = placed({ pod: both, claim: unbound, classes, volumes: [free('a'), free('b')] })!;
  expect(nodesOf(placement)).toBe('b');
  expect(placement.claims).toEqual(['data']);
});

describe('a gang that shares a claim', () => {
  test('runs where its volume will be: on one node, or in one zone', () => {
    const local2 = placed({ pods: 2, claim: unbound, volumes: [free('a'), free('b')] })!;
    expect(local2.jointly).toEqual(['kubernetes.io/hostname']);
    const zonal = { pods: 2, claim: { ...unbound, storageClassName: 'cloud' } };
    const known = placed({ ...zonal, classes: [{ ...cloud, allowedTopologies: [west] }] })!;
    expect(known).toMatchObject({ jointly: [ZONE], unmodeled: [] });
    expect(placed({ ...zonal, classes: [cloud] })!.unmodeled).toEqual([
      'volumes[0] (where the volume will be made)',
    ]);
  });

  test('needs nothing more once it is bound', () => {
    expect(placed({ pods: 2, claim: bound, volumes: [volume('pv', on(ZONE, 'west'))] })).toMatchObject({
      jointly: [],
      unmodeled: [],
    });
  });
});
