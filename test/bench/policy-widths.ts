/** Who waits: mean waits by width, and how often the machine is emptied for jobs that need all of it. */
import { type SimulatedJob, statisticsOf } from '../../runtime/simulation/statistics';

export function widthsText(jobs: readonly SimulatedJob[], cores: number): string {
  const { meanWait, maxWait, utilisation } = statisticsOf(jobs, cores);
  const waitOf = (isOfWidth: (processors: number) => boolean) =>
    `${Math.round(
      statisticsOf(
        jobs.filter(({ processors }) => isOfWidth(processors)),
        cores,
      ).meanWait,
    )} s`;
  return [
    `mean wait ${Math.round(meanWait)} s`,
    `below a quarter ${waitOf((processors) => processors * 4 < cores)}`,
    `a quarter ${waitOf((processors) => processors * 4 >= cores && processors * 2 < cores)}`,
    `half ${waitOf((processors) => processors * 2 >= cores && processors < cores)}`,
    `whole ${waitOf((processors) => processors >= cores)}`,
    `longest ${Math.round(maxWait)} s`,
    `utilisation ${utilisation.toFixed(3)}`,
    `emptied ${timesEmptied(jobs, cores)} times`,
  ].join(', ');
}

/** Jobs of the whole machine that run one after the other empty it once. */
function timesEmptied(jobs: readonly SimulatedJob[], cores: number): number {
  const whole = jobs.filter(({ processors }) => processors >= cores);
  whole.sort((a, b) => a.startedAt - b.startedAt);
  return whole.filter(({ startedAt }, i) => i === 0 || startedAt > whole[i - 1]!.endedAt).length;
}
