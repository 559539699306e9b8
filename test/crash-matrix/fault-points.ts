/** The fault points of the matrix: one fault after one kind of call, while one thing happens to the cluster. */

/** All database statements, patches and RPCs of a term. */
export const CALLS = [
  'queue.active',
  'queue.setQueues',
  'queue.submit',
  'queue.update',
  'queue.wait',
  'queue.allocate',
  'queue.released',
  'queue.running',
  'queue.shrink',
  'queue.finish',
  'queue.requestEviction',
  'queue.requeue',
  'client.patch jobs',
  'client.patch pods',
  'client.create fluxjobs',
  'client.patch fluxjobs',
  'client.create events',
  'fluxion.init',
  'fluxion.replay',
  'fluxion.match',
  'fluxion.cancel',
  'fluxion.partialCancel',
  'fluxion.removeNodes',
  'fluxion.addNodes',
] as const;

/** All requests of the leader election, in the order in which a replica sends them. */
const ELECTION_CALLS = [
  'lease.read',
  'lease.create',
  'lease.take',
  'queue.acquireFence',
  'lease.fence',
  'lease.renew',
  'lease.release',
] as const;

/**
 * What happens to the node of a running job, and the calls of a term that it causes. `pinned`: the granted node does not
 * take the pod of a controller.
 */
const NODE_FAULTS = {
  drained: ['fluxion.setStatus', 'queue.requestEviction', 'client.patch jobs', 'queue.requeue'],
  cordoned: ['queue.requestEviction', 'queue.requeue'],
  tainted: ['queue.requestEviction', 'queue.requeue'],
  'not-ready': ['queue.requestEviction', 'client.patch jobs', 'queue.requeue', 'fluxion.cancel'],
  deleted: ['queue.requestEviction', 'client.patch jobs'],
  pinned: ['queue.requestEviction', 'client.create pods/eviction', 'queue.finish'],
} as const;

export type NodeFault = keyof typeof NODE_FAULTS;
export type CallName =
  | (typeof CALLS)[number]
  | (typeof ELECTION_CALLS)[number]
  | (typeof NODE_FAULTS)[NodeFault][number];

/**
 * `kill` kills the process. `database`, `apiserver` and `fluxion` reset the connections and refuse new ones for a moment;
 * answers in transit are lost. `fluxion-restart` drops the state of the Fluxion service.
 */
const FAULTS = ['kill', 'database', 'apiserver', 'fluxion', 'fluxion-restart'] as const;
export type Fault = (typeof FAULTS)[number];

const CONNECTION_OF = {
  queue: 'database',
  client: 'apiserver',
  lease: 'apiserver',
  fluxion: 'fluxion',
} as const satisfies Readonly<Record<string, Fault>>;

/** `work`: jobs of all kinds come and go. `preemption`: an urgent job evicts another one. */
type Scene = NodeFault | 'work' | 'preemption';

export interface FaultPoint {
  readonly call: CallName;
  readonly fault: Fault;
  /** @default - what causes the call anyway */
  readonly during?: NodeFault;
}

export function allFaultPoints(): readonly FaultPoint[] {
  const calls = [...CALLS, ...ELECTION_CALLS];
  return [
    ...calls.flatMap((call) => FAULTS.map((fault) => ({ call, fault }))),
    ...nodeFaults().flatMap(({ call, during }) =>
      // The Job controller needs ten seconds for each of them, so only the faults that meet the call itself are played.
      (['kill', CONNECTION_OF[portOf(call)]] as const).map((fault) => ({ call, fault, during })),
    ),
  ];
}

function nodeFaults(): readonly { readonly call: CallName; readonly during: NodeFault }[] {
  const all = Object.entries(NODE_FAULTS) as [NodeFault, readonly CallName[]][];
  return all.flatMap(([during, calls]) => calls.map((call) => ({ call, during })));
}

function portOf(call: CallName): keyof typeof CONNECTION_OF {
  return call.slice(0, call.indexOf('.')) as keyof typeof CONNECTION_OF;
}

export function sceneOf({ call, during }: FaultPoint): Scene {
  if (during !== undefined) return during;
  if (call === 'queue.requeue' || call === 'fluxion.removeNodes' || call === 'fluxion.addNodes')
    return 'deleted';
  return call === 'queue.requestEviction' ? 'preemption' : 'work';
}

/** `queue.requeue, kill, node drained` */
export function nameOf({ call, fault, during }: FaultPoint): string {
  return [call, fault, during === undefined ? [] : `node ${during}`].flat().join(', ');
}
