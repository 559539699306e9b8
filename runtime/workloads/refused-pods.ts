/** Why the Job controller has not created pods: it says so in Events of the Job, and only there. */
import type { Clock } from '../clock';
import type { KubernetesClient } from '../kubernetes/client';
import type { GrantReason, GrantWait } from '../shared/grant-waits';
import type { ActiveWorkload } from './adapter';
import { newestEvent } from './kubelet-events';

export interface RefusedPodsOptions {
  readonly client: Pick<KubernetesClient, 'list'>;
  readonly limits: { readonly unschedulableSeconds: number };
  readonly clock: Clock;
  /** Unix seconds. */
  readonly now: () => number;
}

export interface Refusal {
  /** The newest sentence since the pods are missing. @default - it has said nothing, or is not asked yet */
  readonly sentence?: string | undefined;
  /** The same for the user. */
  readonly wait?: GrantWait | undefined;
  /** Milliseconds until it is asked, or asked again; empty: no pods are missing. */
  readonly after: readonly number[];
}

/** Milliseconds for which pods are missing until the Job controller is asked. */
const ASK_MS = 5_000;
/** Milliseconds until it is asked again, and missing resource claims are. */
export const REREAD_MS = 15_000;
/** Seconds by which the clocks of this process and of the Job controller may differ. */
const CLOCK_SKEW = 5;
/** kube-scheduler lists a reason for each group of nodes; the first sentences name the cause. */
const LONGEST_SENTENCE = 600;

interface Read {
  readonly at: number;
  readonly sentence: string | undefined;
}

export class RefusedPods {
  /** By job id. */
  private readonly read = new Map<number, Read>();

  constructor(private readonly options: RefusedPodsOptions) {}

  forget(jobid: number): void {
    this.read.delete(jobid);
  }

  /** @param since when pods of the workload were first missing, in milliseconds of the clock; undefined: none are */
  async explain(workload: ActiveWorkload, since: number | undefined): Promise<Refusal> {
    if (since === undefined) return { after: [] };
    const { clock, limits } = this.options;
    const until = since + Math.min(ASK_MS, limits.unschedulableSeconds * 1000) - clock.now();
    if (until > 0) return { after: [until] };
    const { at, sentence } = await this.newestOf(workload, since);
    const reason: GrantReason = 'PodsMissing';
    const wait = sentence === undefined ? undefined : { reason, message: creationText(sentence) };
    return { sentence, wait, after: [at + REREAD_MS - clock.now()] };
  }

  private async newestOf(workload: ActiveWorkload, since: number): Promise<Read> {
    const { jobid } = workload.row;
    const at = this.options.clock.now();
    const known = this.read.get(jobid);
    if (known !== undefined && known.at >= since && at < known.at + REREAD_MS) return known;
    const read = { at, sentence: await this.sentenceOf(workload, since) };
    this.read.set(jobid, read);
    return read;
  }

  private async sentenceOf({ object }: ActiveWorkload, since: number): Promise<string | undefined> {
    const { namespace, uid } = object.metadata;
    const { client, clock, now } = this.options;
    const from = Math.floor(now() - (clock.now() - since) / 1000) - CLOCK_SKEW;
    const selector = `regarding.uid=${uid},reason=FailedCreate`;
    const newest = await newestEvent(client, namespace, selector, { from });
    return newest?.note === undefined ? undefined : shorten(newest.note.replace(/^Error creating: /, ''));
  }
}

export function creationText(sentence: string): string {
  return `the Job controller cannot create its pods: ${sentence}`;
}

export function shorten(text: string): string {
  const sentence = text.replace(/\.$/, '');
  return sentence.length <= LONGEST_SENTENCE ? sentence : `${sentence.slice(0, LONGEST_SENTENCE)}…`;
}
