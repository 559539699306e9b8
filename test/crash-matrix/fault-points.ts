/** The fault points of the matrix: one fault after one kind of call. */

/** All database statements, patches and RPCs of the controller. */
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
  'client.patch fluxjobs/status',
  'client.create events',
  'fluxion.init',
  'fluxion.replay',
  'fluxion.match',
  'fluxion.cancel',
  'fluxion.partialCancel',
  'fluxion.removeNodes',
  'fluxion.addNodes',
] as const;
export type CallName = (typeof CALLS)[number];

/**
 * `kill` kills the process. `database`, `apiserver` and `fluxion` reset the connections and refuse new ones for a moment;
 * answers in transit are lost. `fluxion-restart` drops the state of the Fluxion service.
 */
const FAULTS = ['kill', 'database', 'apiserver', 'fluxion', 'fluxion-restart'] as const;
export type Fault = (typeof FAULTS)[number];

export interface FaultPoint {
  readonly call: CallName;
  readonly fault: Fault;
}

export function allFaultPoints(): readonly FaultPoint[] {
  return CALLS.flatMap((call) => FAULTS.map((fault) => ({ call, fault })));
}

/** The additional event without which the controller does not make this call. */
export function needs(call: CallName): 'node-loss' | 'preemption' | undefined {
  if (call === 'queue.requeue' || call === 'fluxion.removeNodes' || call === 'fluxion.addNodes')
    return 'node-loss';
  return call === 'queue.requestEviction' ? 'preemption' : undefined;
}
