/** What `whatif` shows: when a workload would start. Pure functions. */

import { plain } from '../columns';
import type { WhatIf, WhatIfSpec } from '../reader/kinds';
import { hostlistOf } from '../resources/hostlist';
import { rfc3339 } from './durations';
import { likelySentence } from './likely-start';
import { counted } from './output';

/** @param name as users name it: `job/train` */
export function whatIfLines(name: string, { spec, status }: WhatIf): string[] {
  if (status === undefined) return [`${name}: the read API gave no answer`];
  const { start, end, likelyStart, nodes, message, delays } = status;
  const condition = conditionOf(spec);
  const would = condition === '' ? `${name} would` : `${condition}, ${name} would`;
  return [
    start === undefined
      ? `${would} not start within the plan`
      : `${would} start at ${rfc3339(start)}${end === undefined ? '' : ` and end at ${rfc3339(end)} at the latest`}`,
    ...(likelyStart === undefined ? [] : [likelySentence(rfc3339(likelyStart))]),
    ...(nodes.length === 0 ? [] : [`on ${counted(nodes.length, 'node')}: ${hostlistOf(nodes)}`]),
    ...(message === '' ? [] : [plain(message)]),
    ...delays.map(
      ({ name: other, from, to }) => `it would delay ${other} from ${rfc3339(from)} to ${rfc3339(to)}`,
    ),
    ...(start === undefined || delays.length > 0
      ? []
      : ['it would delay no other workload of this namespace']),
  ];
}

function conditionOf({ moreNodes = 0, policy, priority }: WhatIfSpec): string {
  const parts = [
    ...(moreNodes === 0 ? [] : [`${counted(moreNodes, 'more node')}`]),
    ...(policy === undefined ? [] : [`policy ${policy}`]),
    ...(priority === undefined ? [] : [`priority ${priority}`]),
  ];
  return parts.length === 0 ? '' : `with ${parts.join(', ')}`;
}
