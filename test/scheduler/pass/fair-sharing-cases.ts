/**
 * What TestFairPreemptions of Kueue says of flat cohorts, translated by meaning. Both of its strategies in their order are
 * `LessThanInitialShare`. It can also have the second one alone, and queues of weight 0, which have no like here.
 */
import { firm, job, type Table } from './preemption-cases';
import { PREEMPTS } from './settings';

const SHARING = {
  cohort: 'fair',
  quota: { cores: 3 },
  ...PREEMPTS,
  reclaim: true,
  fairSharing: 'LessThanInitialShare',
} as const;
const FAIR = { a: SHARING, b: SHARING, c: SHARING };
const STRICT = { ...SHARING, fairSharing: 'LessThanOrEqualToFinalShare' } as const;

const LARGE = { ...SHARING, quota: { cores: 6 } };
const TWICE = { a: LARGE, b: LARGE, c: LARGE };

const units = (queue: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${queue}${i}`, firm(queue, 1)]));

export const BY_FAIR_SHARE: Table = {
  'evicts of the queue that has borrowed most': {
    queues: FAIR,
    running: { ...units('a', 3), ...units('b', 5), ...units('c', 1) },
    incoming: firm('a', 1),
    evicted: ['b4'],
  },
  'evicts nothing where the two queues would only change places': {
    queues: FAIR,
    running: { ...units('a', 3), ...units('b', 5) },
    incoming: firm('a', 2),
    evicted: [],
  },
  'evicts lower priorities of its own queue before it looks at shares': {
    queues: FAIR,
    running: {
      low1: job('a', 1, -1),
      low2: job('a', 1, -1),
      a3: firm('a', 1),
      a4: firm('a', 1),
      ...units('b', 5),
    },
    incoming: firm('a', 2),
    evicted: ['low1', 'low2'],
  },
  'evicts in its own queue and of the queue with the largest share': {
    queues: FAIR,
    running: { low: job('a', 1, -1), a2: firm('a', 1), a3: firm('a', 1), ...units('b', 6) },
    incoming: firm('a', 2),
    evicted: ['b5', 'low'],
  },
  'evicts in its own queue what keeps its share below that of the other one': {
    queues: FAIR,
    running: { a1: job('a', 2, -1), a2: job('a', 1, -1), b1: firm('b', 3), b2: firm('b', 3) },
    incoming: firm('a', 4),
    evicted: ['a1', 'b2'],
  },
  'evicts no large workload for one that would borrow as much': {
    queues: FAIR,
    running: { a1: firm('a', 2), b1: firm('b', 7) },
    incoming: firm('a', 5),
    evicted: [],
  },
  'evicts none of several for one that would borrow more than they': {
    queues: FAIR,
    running: { b1: firm('b', 2), b2: firm('b', 2), b3: firm('b', 3) },
    incoming: firm('a', 6),
    evicted: [],
  },
  'prefers a workload without which the other queue has still the larger share': {
    queues: TWICE,
    running: { b1: firm('b', 4), b2: firm('b', 2), b3: firm('b', 4), c1: firm('c', 2) },
    incoming: firm('a', 7),
    evicted: ['b2'],
  },
  'evicts of several queues where the largest share becomes smaller': {
    queues: { ...TWICE, idle: LARGE },
    running: { b1: firm('b', 6), b2: firm('b', 6), c1: firm('c', 6), c2: firm('c', 6) },
    incoming: firm('a', 9),
    evicted: ['b2', 'c2'],
  },
  'evicts no more of other queues than they have borrowed together': {
    queues: TWICE,
    running: { b1: firm('b', 4), b2: firm('b', 5), c1: firm('c', 4), c2: firm('c', 5) },
    incoming: firm('a', 7),
    evicted: [],
    better:
      'Kueue evicts one workload of each, 1 core more than both have borrowed, which they may take back at once.',
  },
  'evicts nothing for what was evicted like that': {
    queues: TWICE,
    running: { a1: firm('a', 7), b1: firm('b', 4), c1: firm('c', 4) },
    incoming: firm('b', 5),
    evicted: [],
  },
  'evicts nothing of a queue that would be within its quota before that is enough': {
    queues: FAIR,
    running: { b1: firm('b', 3), b2: firm('b', 3), c1: firm('c', 3) },
    incoming: firm('a', 4),
    evicted: [],
  },
  'evicts no lower priority of a queue with an equal share': {
    queues: { ...FAIR, none: { cohort: 'fair', quota: { cores: 0 } } },
    running: {
      ...units('a', 3),
      ...units('b', 3),
      low1: firm('none', 1, -3),
      low2: firm('none', 1, -3),
      low3: firm('none', 1, -3),
    },
    incoming: firm('a', 2),
    evicted: [],
  },
  'evicts a higher priority where a lower one would change the places of the queues': {
    queues: { ...FAIR, a: STRICT },
    running: { a1: firm('a', 3), low: firm('b', 5), high: firm('b', 1, 1) },
    incoming: firm('a', 1),
    evicted: ['high'],
  },
  'lets a queue of twice the weight have twice the share': {
    queues: { ...FAIR, a: { ...SHARING, weight: 2 } },
    running: { ...units('a', 3), ...units('b', 6) },
    incoming: firm('a', 2),
    evicted: ['b4', 'b5'],
  },
  'evicts by no share where its queue has not chosen that': {
    queues: { ...FAIR, a: { ...SHARING, fairSharing: 'Never' } },
    running: { ...units('a', 3), ...units('b', 6) },
    incoming: firm('a', 1),
    evicted: [],
  },
};
