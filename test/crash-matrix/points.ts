/** The points of the matrix: after which call, and what happens there. */

/** Every write-ahead step, patch and RPC of the controller. */
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
 * kill: the process is gone. The connections: broken, and shut for a moment; an answer that was on its way over one
 * is lost. fluxion-restart: the service beside the controller has forgotten everything.
 */
const DEEDS = ['kill', 'database', 'apiserver', 'fluxion', 'fluxion-restart'] as const;
export type Deed = (typeof DEEDS)[number];

export interface Point {
  readonly call: CallName;
  readonly deed: Deed;
}

export function allPoints(): readonly Point[] {
  return CALLS.flatMap((call) => DEEDS.map((deed) => ({ call, deed })));
}

/** What has to happen for these calls to be made at all, beside what always happens. */
export function needs(call: CallName): 'node-loss' | 'preemption' | undefined {
  if (call === 'queue.requeue' || call === 'fluxion.removeNodes' || call === 'fluxion.addNodes')
    return 'node-loss';
  return call === 'queue.requestEviction' ? 'preemption' : undefined;
}
