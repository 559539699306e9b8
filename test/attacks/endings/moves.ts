/**
 * Every way in which a tenant can end a workload or take it from its controller: deletions with their options, evictions, owners,
 * finalizers and labels, of the object and of its pods, alone and one after the other.
 */
import { JOB_TRACKING_FINALIZER } from '../../../constructs/api/job-controller';
import { HOLD } from '../../../constructs/api/labels';
import type { KubeObject } from '../../cluster/api';
import { type Act, ALPHA } from '../attack';
import { pathTo } from '../objects';
import { selectorKeys, type Target } from './targets';

/** The target as it is before the moves. */
export interface Live {
  readonly name: string;
  readonly target: Target;
  readonly object: KubeObject;
  /** Those of the target; of a Pod itself. */
  readonly pods: readonly KubeObject[];
}

export interface Move {
  readonly name: string;
  readonly acts: (live: Live) => readonly Act[];
}

const at = ({ target, name }: Live) => pathTo(target.kind, ALPHA, name);
const podAt = (pod: KubeObject, subresource?: string) => pathTo('Pod', ALPHA, pod.metadata.name, subresource);
const options = (more: object) => ({ kind: 'DeleteOptions', apiVersion: 'v1', ...more });

const POLICIES = [undefined, 'Orphan', 'Background', 'Foreground'] as const;
const GRACES = [undefined, 0, 1, 3_600, 1_000_000] as const;
const said = (value: unknown) => (value === undefined ? 'none' : String(value));

/** A request body without what is undefined. */
const given = (more: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined));

const DELETIONS: readonly Move[] = POLICIES.flatMap((propagationPolicy) =>
  GRACES.map(
    (gracePeriodSeconds): Move => ({
      name: `deletion, propagationPolicy ${said(propagationPolicy)}, gracePeriodSeconds ${said(gracePeriodSeconds)}`,
      acts: (live) => {
        const body = options(given({ propagationPolicy, gracePeriodSeconds }));
        return [{ verb: 'DELETE', path: at(live), body }];
      },
    }),
  ),
);

/** By `deletecollection`. */
const COLLECTIONS: readonly Move[] = [
  ...POLICIES.map((propagationPolicy) => ({ propagationPolicy })),
  { gracePeriodSeconds: 0 },
].map((more) => ({
  name: `deletion of all of that name, ${JSON.stringify(more)}`,
  acts: ({ target, name }) => [
    {
      verb: 'DELETE',
      path: pathTo(target.kind, ALPHA),
      query: `fieldSelector=metadata.name%3D${name}`,
      body: options(given(more)),
    },
  ],
}));

const PRECONDITIONS: Readonly<Record<string, (object: KubeObject) => object>> = {
  'its uid': ({ metadata }) => ({ uid: metadata.uid }),
  'another uid': () => ({ uid: '6f1d2a0e-0000-4000-8000-000000000009' }),
  'another version': () => ({ resourceVersion: '1' }),
};
const CONDITIONAL: readonly Move[] = Object.entries(PRECONDITIONS).map(([what, preconditions]) => ({
  name: `deletion if it has ${what}`,
  acts: (live) => [
    { verb: 'DELETE', path: at(live), body: options({ preconditions: preconditions(live.object) }) },
  ],
}));

const OLD_ORPHANS: Move = {
  name: 'deletion, orphanDependents',
  acts: (live) => [{ verb: 'DELETE', path: at(live), body: options({ orphanDependents: true }) }],
};

const eviction = (pod: KubeObject, gracePeriodSeconds?: number): Act => ({
  verb: 'POST',
  path: podAt(pod, 'eviction'),
  body: {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: pod.metadata.name, namespace: ALPHA },
    deleteOptions: given({ gracePeriodSeconds }),
  },
});

const POD_ENDS: readonly Move[] = GRACES.flatMap((gracePeriodSeconds): readonly Move[] => [
  {
    name: `deletion of its pods, gracePeriodSeconds ${said(gracePeriodSeconds)}`,
    acts: ({ pods }) =>
      pods.map((pod) => ({
        verb: 'DELETE',
        path: podAt(pod),
        body: options(given({ gracePeriodSeconds })),
      })),
  },
  {
    name: `eviction of its pods, gracePeriodSeconds ${said(gracePeriodSeconds)}`,
    acts: ({ pods }) => pods.map((pod) => eviction(pod, gracePeriodSeconds)),
  },
  {
    name: `deletion of its pods with grace, and then gracePeriodSeconds ${said(gracePeriodSeconds)}`,
    acts: ({ pods }) =>
      [60, gracePeriodSeconds].flatMap((seconds) =>
        pods.map(
          (pod): Act => ({
            verb: 'DELETE',
            path: podAt(pod),
            body: options(given({ gracePeriodSeconds: seconds })),
          }),
        ),
      ),
  },
]);

/** A change of metadata, of the object or of its pods. */
interface Change {
  readonly name: string;
  readonly of: (live: Live, object: KubeObject) => readonly object[];
}

const patchOf = (metadata: object) => ({ metadata });
const forged = (apiVersion: string, kind: string, more: object = {}) => ({
  apiVersion,
  kind,
  name: 'no-such',
  uid: '6f1d2a0e-0000-4000-8000-000000000008',
  controller: true,
  ...more,
});
const FORGED = [
  forged('batch/v1', 'Job'),
  forged('batch/v9', 'Job'),
  forged('apps/v1', 'ReplicaSet'),
  forged('apps/v9', 'DaemonSet'),
  forged('flux-framework.org/v1alpha2', 'MiniCluster'),
  forged('v1', 'Node', { controller: false }),
];
const ownersOf = ({ metadata }: KubeObject) => (metadata.ownerReferences ?? []) as readonly object[];

const OWNERS: readonly Change[] = [
  { name: 'no owners', of: () => [patchOf({ ownerReferences: null })] },
  ...FORGED.map(
    (owner): Change => ({
      name: `the owner ${owner.apiVersion} ${owner.kind} in their place`,
      of: () => [patchOf({ ownerReferences: [owner] })],
    }),
  ),
  ...FORGED.map(
    (owner): Change => ({
      name: `the owner ${owner.apiVersion} ${owner.kind} beside them`,
      of: (_, object) => [
        patchOf({ ownerReferences: [...ownersOf(object), { ...owner, controller: false }] }),
      ],
    }),
  ),
  ...[{ controller: false }, { blockOwnerDeletion: true }, { name: 'other' }, { kind: 'Other' }].map(
    (more): Change => ({
      name: `the same owners with ${JSON.stringify(more)}`,
      of: (_, object) =>
        ownersOf(object).length === 0
          ? []
          : [patchOf({ ownerReferences: ownersOf(object).map((owner) => ({ ...owner, ...more })) })],
    }),
  ),
];

const FINALIZERS: readonly Change[] = [
  { name: 'no finalizers', of: () => [patchOf({ finalizers: null })] },
  ...['example.com/mine', 'orphan', 'foregroundDeletion', JOB_TRACKING_FINALIZER].map(
    (finalizer): Change => ({
      name: `the finalizer ${finalizer}`,
      of: (_, { metadata }) => [
        patchOf({ finalizers: [...((metadata as { finalizers?: string[] }).finalizers ?? []), finalizer] }),
      ],
    }),
  ),
];

const LABELS: readonly Change[] = [null, 'other'].flatMap((value): readonly Change[] => [
  {
    name: `the label of its selector: ${value}`,
    of: ({ target, name }, object) =>
      selectorKeys(target, object, name).map((key) => patchOf({ labels: { [key]: value } })),
  },
  {
    name: `all labels: ${value}`,
    of: (_, { metadata }) => {
      // Who lifts the hold wants the start.
      const keys = Object.keys(metadata.labels ?? {}).filter((key) => key !== HOLD);
      return keys.map((key) => patchOf({ labels: { [key]: value } }));
    },
  },
]);

const CHANGES = [...OWNERS, ...FINALIZERS, ...LABELS];

const changing = ({ name, of }: Change, which: 'object' | 'pods'): Move => ({
  name: `${name}, of ${which === 'object' ? 'the object' : 'its pods'}`,
  acts: (live) =>
    (which === 'object'
      ? [[at(live), live.object] as const]
      : live.pods.map((pod) => [podAt(pod), pod] as const)
    ).flatMap(([path, object]) => of(live, object).map((body): Act => ({ verb: 'PATCH', path, body }))),
});

const named = (moves: readonly Move[], start: string) => moves.find(({ name }) => name.startsWith(start))!;
/** What comes after a change. */
const NEXT: readonly Move[] = [
  named(POD_ENDS, 'deletion of its pods, gracePeriodSeconds 1'),
  named(POD_ENDS, 'deletion of its pods, gracePeriodSeconds 0'),
  named(DELETIONS, 'deletion, propagationPolicy Background, gracePeriodSeconds none'),
  named(DELETIONS, 'deletion, propagationPolicy Orphan, gracePeriodSeconds none'),
];

const then = (first: Move, next: Move): Move => ({
  name: `${first.name}; ${next.name}`,
  acts: (live) => [...first.acts(live), ...next.acts(live)],
});

const OF_OBJECTS = CHANGES.map((change) => changing(change, 'object'));
const OF_PODS = CHANGES.map((change) => changing(change, 'pods'));

export function movesOf({ kind, life }: Target): readonly Move[] {
  const hasPods = life !== 'waits' && kind !== 'Pod';
  const changes = [...OF_OBJECTS, ...(hasPods ? OF_PODS : [])];
  // Two of them each.
  const next = life === 'waits' ? NEXT.slice(2) : NEXT;
  const after = (i: number) => [next[i % next.length]!, next[(i + next.length / 2) % next.length]!];
  return [
    ...[...DELETIONS, ...COLLECTIONS, ...CONDITIONAL, OLD_ORPHANS],
    ...(life === 'waits' ? [] : POD_ENDS),
    ...changes,
    ...changes.flatMap((change, i) => after(i).map((second) => then(change, second))),
  ];
}
