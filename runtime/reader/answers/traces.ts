/** `list traces`: what started and ended in a period, on what cluster. Users and namespaces are numbers. */
import { swfLines, type TracedMachine } from '../../queue/swf';
import type { GraphNode } from '../../resources/types';
import type { Trace, UnitSizes } from '../kinds';
import type { ReadResource } from '../resource';
import { answered } from './answered';
import { periodOf } from './period';
import type { ReadModel } from './read-model';

export function traces(model: ReadModel): ReadResource {
  return {
    name: 'traces',
    singular: 'trace',
    kind: 'Trace',
    namespaced: false,
    verbs: ['list'],
    async answer(request): Promise<Trace> {
      const period = periodOf(request, model.now());
      // The agents among the pods take their part of each node.
      const { queue, cluster } = await model.world(['nodes', 'pods']);
      const machine = machineOf([...cluster.nodes.graphNodes().values()], model.unitSizes);
      const lines = [...swfLines(await queue.traced(period), machine)];
      return { ...answered('Trace', request), swf: lines.map((line) => `${line}\n`).join('') };
    },
  };
}

/** A simulated job has pods of one core, so of each node the whole cores count. */
function machineOf(nodes: readonly GraphNode[], { cpuMillis }: UnitSizes): TracedMachine {
  const cores = nodes.map(({ units }) => Math.floor(((units.core ?? 0) * cpuMillis) / 1000));
  return { nodes: nodes.length, cores: cores.reduce((sum, each) => sum + each, 0) };
}
