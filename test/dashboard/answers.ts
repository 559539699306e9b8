/** Answers of a read API that a test fills. */
import type { Answer, HistoryEntryView, HistoryView, UsageView } from '../../runtime/dashboard/messages';
import { at } from './sample';

export const entry = (
  minutes: number,
  event: string,
  message: string,
  { actor = 'fluxqueue-controller-0', uid = 'train', kind = 'Job' } = {},
): HistoryEntryView => ({ at: at(minutes), uid, kind, event, actor, message });

export const HISTORY: HistoryView = {
  entries: [
    entry(-3000, 'Submitted', 'queue default', { actor: 'ada', uid: 'before' }),
    entry(-2990, 'Finished', 'Failed', { uid: 'before' }),
    entry(-30, 'Submitted', '1 pod with 3 cores', { actor: 'ada' }),
    entry(-29, 'Waiting', 'Busy: needs 1 pod with 8 cores; not free now'),
    entry(-20, 'Granted', 'runs on node1'),
    entry(-19, 'Running', ''),
    entry(-5, 'Submitted', 'a pod with this name', { kind: 'Pod', uid: 'pod' }),
  ],
};

const line = (queue: string, user: string, jobs: number, cpuHours: number, gpuHours = 0) => ({
  queue,
  namespace: 'science',
  user,
  jobs,
  cpuHours,
  memoryGiBHours: cpuHours * 4,
  gpuHours,
});

export const USAGE: UsageView = {
  from: '2026-11-01T00:00:00.000Z',
  lines: [
    line('default', 'ada', 412, 1893.25),
    line('default', 'grace', 97, 3120.5),
    line('gpu', 'grace', 12, 96, 48),
    line('closed', '', 1, 0.04),
  ],
  shares: [
    { queue: 'default', weight: 3, usedShare: 0.81, factor: 0.473 },
    { queue: 'default', user: 'grace', usedShare: 0.65, factor: 0.31 },
    { queue: 'default', user: 'ada', usedShare: 0.35, factor: 0.712 },
    { queue: 'gpu', weight: 1, usedShare: 0.19, factor: 0.867 },
    { queue: 'gpu', user: 'grace', usedShare: 1, factor: 0.5 },
  ],
};

export class StaticAnswers {
  answers: { history: Answer<HistoryView>; usage: Answer<UsageView> } = {
    history: { answer: HISTORY },
    usage: { answer: USAGE },
  };
  readonly asked: string[] = [];

  readonly history = async (namespace: string, name: string): Promise<Answer<HistoryView>> => {
    this.asked.push(`${namespace}/${name}`);
    return this.answers.history;
  };

  readonly usage = async (): Promise<Answer<UsageView>> => {
    this.asked.push('usage');
    return this.answers.usage;
  };
}
