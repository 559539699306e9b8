/** What follows the end of a Job: its controller says so in an Event, and the TTL controller deletes it if its user wants that. */
import { jobs as jobPath } from '../../runtime/kubernetes/paths';
import type { Condition, Job } from '../../runtime/kubernetes/types';
import { timeOf } from './object-store';
import type { SimulatedApiserver } from './simulated-apiserver';
import type { SimulatedClock } from './simulated-clock';

/** Both act by watches. */
const LAG_MS = 50;

export class FinishedJobs {
  /** Resource version up to which the Jobs are known. */
  private cursor = 0;
  /** uids */
  private readonly told = new Set<string>();

  constructor(
    private readonly apiserver: SimulatedApiserver,
    private readonly clock: SimulatedClock,
    private readonly now: () => number,
  ) {}

  start(): void {
    this.apiserver.store.onChange('jobs', () => this.follow());
  }

  private follow(): void {
    const { store } = this.apiserver;
    const changes = store.since('jobs', this.cursor) ?? [];
    this.cursor = store.latest;
    for (const { object } of changes) this.see(object as Job);
  }

  private see(job: Job): void {
    const end = endOf(job);
    if (end === undefined || this.told.has(job.metadata.uid)) return;
    this.told.add(job.metadata.uid);
    this.tell(job, end);
    const { ttlSecondsAfterFinished: ttl } = job.spec;
    if (ttl !== undefined) this.clock.after(ttl * 1000 + LAG_MS, () => this.delete(job));
  }

  private tell({ metadata: { uid, namespace, name } }: Job, { type, reason, message }: Condition): void {
    this.apiserver.store.create('events', {
      metadata: { name: `${name}.${uid}`, namespace },
      regarding: { kind: 'Job', uid },
      reason: type === 'Complete' ? 'Completed' : reason,
      note: message,
      deprecatedLastTimestamp: timeOf(this.now()),
    });
  }

  private delete({ metadata: { uid, namespace, name } }: Job): void {
    const there = this.apiserver.store.get('jobs', `${namespace}/${name}`)?.metadata.uid;
    if (there === uid) this.apiserver.delete(jobPath(namespace, name), uid, 'Foreground');
  }
}

/** The condition that ends the Job. */
function endOf({ status }: Job): Condition | undefined {
  return status?.conditions?.find(
    ({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True',
  );
}
