/** `list traces`: what started and ended in a period. Users and namespaces are numbers. */
import { swfLines } from '../../queue/swf';
import type { Trace } from '../kinds';
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
      const { queue } = await model.openTables();
      const lines = [...swfLines(await queue.traced(period))];
      return { ...answered('Trace', request), swf: lines.map((line) => `${line}\n`).join('') };
    },
  };
}
