/** What the resources of the read API answer (docs/decisions/0042-read-api.md). */
import type { ReadResource } from '../resource';
import { histories } from './histories';
import { nodeReports } from './node-reports';
import { plans } from './plans';
import { priorities } from './priorities';
import { ReadModel, type ReadModelOptions } from './read-model';
import { resourceGraphs } from './resource-graphs';
import { traces } from './traces';
import { usages } from './usages';
import { whatIfs } from './what-ifs';

export interface Answers {
  readonly resources: readonly ReadResource[];
  /** Closes all that is open, and answers nothing more. */
  stop(): Promise<void>;
}

export function readResources(options: ReadModelOptions): Answers {
  const model = new ReadModel(options);
  const all = [histories, usages, traces, plans, priorities, nodeReports, resourceGraphs, whatIfs];
  return {
    resources: all.map((resource) => onDemand(model, resource(model))),
    stop: () => model.stop(),
  };
}

/** Who leaves ends the wait, and not the work: others may share it. */
function onDemand(model: ReadModel, resource: ReadResource): ReadResource {
  return {
    ...resource,
    answer: (request) =>
      untilAborted(
        request.signal,
        model.during(() => resource.answer(request)),
      ),
  };
}

function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
