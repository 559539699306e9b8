/** The whole picture: story, node map, timeline and table, laid out for the size of the terminal. Pure functions. */
import type { Phase } from '../../runtime/queue/workload';
import { clockTime } from './clock-time';
import { nodeMap, type Size } from './node-map';
import type { Snapshot } from './snapshot';
import { beside, cut, type Line, line, wrapped } from './styled';
import { table } from './table';
import { timeline } from './timeline';

/** From this width on the table is beside the node map and the timeline. */
const WIDE = 130;
/** The part of a wide terminal that the node map and the timeline have. */
const LEFT = 0.4;
const GAP = 3;
const PHASES: readonly Phase[] = ['Waiting', 'Ready', 'Running', 'Finished'];

/** @param heading lines above everything else */
export function picture(snapshot: Snapshot, size: Size, heading: readonly string[] = []): Line[] {
  const { width, height } = size;
  const top = [
    ...heading.flatMap((text) => wrapped(text, width)).map((text) => line(text)),
    line(`${counts(snapshot)}  ${clockTime(snapshot.now)} UTC`),
    ...snapshot.story.flatMap((text) => wrapped(text, width)).map((text) => line(text)),
  ].map((each) => cut(each, width));
  const rest = { width, height: Math.max(8, height - top.length) };
  return [...top, ...(width >= WIDE ? sideBySide(snapshot, rest) : stacked(snapshot, rest))];
}

/** `81 workloads: waiting 40, ready 1, running 30, finished 10` */
export function counts({ jobs }: Snapshot): string {
  const byPhase = Map.groupBy(jobs, ({ phase }) => phase);
  const parts = PHASES.map((phase) => `${phase.toLowerCase()} ${byPhase.get(phase)?.length ?? 0}`);
  return `${jobs.length} ${jobs.length === 1 ? 'workload' : 'workloads'}: ${parts.join(', ')}`;
}

function stacked(snapshot: Snapshot, { width, height }: Size): Line[] {
  const map = nodeMap(snapshot, { width, height: Math.floor(height * 0.4) });
  const chart = timeline(snapshot, { width, height: Math.floor((height - map.length) * 0.55) });
  return [...map, ...chart, ...table(snapshot, { width, height: height - map.length - chart.length })];
}

function sideBySide(snapshot: Snapshot, { width, height }: Size): Line[] {
  const leftWidth = Math.floor(width * LEFT);
  const map = nodeMap(snapshot, { width: leftWidth, height: Math.floor(height * 0.6) });
  const chart = timeline(snapshot, { width: leftWidth, height: height - map.length - 1 });
  const right = table(snapshot, { width: width - leftWidth - GAP, height });
  return beside([...map, [], ...chart], right, leftWidth + GAP);
}
