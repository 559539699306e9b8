/** The rows of Kueue's tables in which queues of a cohort share quota. */
import { firm, job, type Table, withMemory } from './preemption-cases';
import { PREEMPTS } from './settings';

const many = (queue: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${queue}${i}`, job(queue, 1)]));

const SIX = { cohort: 'campus', quota: { cores: 6, memoryGiB: 3 }, borrowing: { cores: 6, memoryGiB: 3 } };
const PAIR = {
  c1: { ...SIX, ...PREEMPTS, reclaim: true },
  c2: { ...SIX, reclaim: true },
};
/** Its c1 takes quota back of lower priorities only. */
const BY_PRIORITY = { ...PAIR, c1: { ...SIX, ...PREEMPTS } };
const LENDERS = {
  lend1: { cohort: 'lend', quota: { cores: 6 }, lending: { cores: 4 }, ...PREEMPTS, reclaim: true },
  lend2: { cohort: 'lend', quota: { cores: 6 }, lending: { cores: 2 }, ...PREEMPTS, reclaim: true },
};
const TRIO = {
  a: { cohort: 'trio', quota: { cores: 2, memoryGiB: 2 }, ...PREEMPTS, reclaim: true },
  b: { cohort: 'trio', quota: { cores: 2, memoryGiB: 2 } },
  c: { cohort: 'trio', quota: { cores: 2, memoryGiB: 2 } },
};
const EXHAUSTED = {
  a1: job('a', 1, -2),
  a2: job('a', 1, -2),
  a3: job('a', 1, -1),
  b1: job('b', 1),
  b2: job('b', 1),
  b3: job('b', 1),
};

export const IN_A_COHORT: Table = {
  'takes lent quota back before it evicts a lower priority of its own queue': {
    queues: PAIR,
    running: { own: job('c1', 3, -1), mid: job('c2', 3), high: job('c2', 6, 1) },
    incoming: job('c1', 3, 1),
    evicted: ['mid'],
  },
  'takes quota back although a resource that it does not request is borrowed': {
    queues: PAIR,
    running: { own: withMemory('c1', 3, 3, -1), mid: job('c2', 3), high: job('c2', 6, 1) },
    incoming: job('c1', 3, 1),
    evicted: ['mid'],
  },
  'takes nothing of a queue that has borrowed nothing': {
    queues: BY_PRIORITY,
    running: { high: job('c1', 6, 1), low: job('c2', 4, -1) },
    incoming: job('c1', 4, 1),
    evicted: [],
  },
  'takes nothing where all that is borrowed is too little': {
    queues: PAIR,
    running: { high: job('c1', 4, 1), low1: job('c2', 4, -1), low2: job('c2', 4, -1) },
    incoming: job('c1', 4, 1),
    evicted: [],
  },
  'evicts in its own queue where it borrows another resource': {
    queues: PAIR,
    running: { own: job('c1', 4, -1), low: job('c2', 4, -1), high: job('c2', 4, 1) },
    incoming: withMemory('c1', 4, 5, 1),
    evicted: ['own'],
  },
  'evicts in its own queue where it borrows itself': {
    queues: PAIR,
    running: { mid: job('c1', 4), low: job('c1', 4, -1), other: job('c2', 4, -1) },
    incoming: job('c1', 4, 1),
    evicted: ['low'],
  },
  'evicts in its own queue where nothing limits what it borrows': {
    queues: { c1: { ...PAIR.c1, borrowing: {} }, c2: { ...PAIR.c2, borrowing: {} } },
    running: { mid: job('c1', 4), low: job('c1', 4, -1), other: job('c2', 4, -1) },
    incoming: job('c1', 4, 1),
    evicted: ['low'],
  },
  'evicts a borrower of lower priority although it borrows another resource': {
    queues: PAIR,
    running: { mid: job('c1', 4), low1: job('c2', 5, -1), low2: job('c2', 1, -1), low3: job('c2', 1, -1) },
    incoming: withMemory('c1', 2, 5, 1),
    evicted: ['low3'],
    better:
      'Kueue spares every borrower where the workload borrows any resource, and loses a workload of four times the size and a higher priority.',
  },
  'takes nothing back of the same priority where it takes of lower ones only': {
    queues: BY_PRIORITY,
    running: { own: job('c1', 2), other1: job('c2', 4), other2: job('c2', 4) },
    incoming: job('c1', 4),
    evicted: [],
  },
  'takes quota back of the same priority': {
    queues: PAIR,
    running: { other1: job('c1', 4), other2: job('c1', 4, 1), own: job('c2', 2) },
    incoming: job('c2', 4),
    evicted: ['other1'],
  },
  'evicts in its own queue and in others for one start': {
    queues: PAIR,
    running: { own: job('c1', 3, -1), mid: job('c1', 2), low: job('c2', 3, -1), other: job('c2', 4) },
    incoming: job('c1', 4),
    evicted: ['low', 'own'],
  },
  'takes lent quota back where lending is limited': {
    queues: LENDERS,
    running: { own: job('lend1', 3, -1), mid: job('lend2', 3), high: job('lend2', 4, 1) },
    incoming: job('lend1', 3, 1),
    evicted: ['mid'],
  },
  'evicts in its own queue and in others where lending is limited': {
    queues: LENDERS,
    running: {
      own: job('lend1', 3, -1),
      mid: job('lend1', 2),
      low: job('lend2', 3, -1),
      other: job('lend2', 4),
    },
    incoming: job('lend1', 4),
    evicted: ['low', 'own'],
  },
  'evicts nothing for more than is ever lent': {
    queues: { ...LENDERS, lend2: { ...LENDERS.lend2, quota: { cores: 10 } } },
    running: { low: job('lend2', 10, -1) },
    incoming: job('lend1', 9),
    evicted: [],
  },
  'evicts in its own queue where that has used up its quota': {
    queues: TRIO,
    running: EXHAUSTED,
    incoming: job('a', 2),
    evicted: ['a1', 'a2'],
  },
  'evicts in its own queue where that has used up two resources': {
    queues: TRIO,
    running: Object.fromEntries(
      Object.entries(EXHAUSTED).map(([uid, { queue, priority }]) => [
        uid,
        withMemory(queue!, 1, 1, priority),
      ]),
    ),
    incoming: withMemory('a', 2, 2),
    evicted: ['a1', 'a2'],
  },
  'evicts in its own queue where that has used up one of two resources': {
    queues: TRIO,
    running: EXHAUSTED,
    incoming: withMemory('a', 2, 2),
    evicted: ['a1', 'a2'],
  },
  'evicts in others where its own queue has quota left': {
    queues: TRIO,
    running: {
      a1: job('a', 1, -1),
      ...many('b', 4),
      b5: job('b', 1, -1),
    },
    incoming: job('a', 2),
    evicted: ['a1', 'b5'],
  },
  'evicts in its own queue to be within its quota, and takes the rest back of the same priority': {
    queues: TRIO,
    running: { a1: job('a', 1, -1), ...many('b', 5) },
    incoming: job('a', 2),
    evicted: ['a1', 'b4'],
  },
  'takes quota back that one without any has borrowed': {
    queues: {
      left: { cohort: 'root', quota: { cores: 10 }, reclaim: true },
      right: { cohort: 'root', quota: { cores: 0 } },
    },
    running: { other: job('right', 5) },
    incoming: job('left', 8),
    evicted: ['other'],
  },
};

const ONE = { cohort: 'shared', quota: { cores: 1 } };
const SHARED = {
  standardA: { ...ONE, ...PREEMPTS, reclaim: true },
  standardB: { ...ONE, ...PREEMPTS, reclaim: true },
  effortA: ONE,
  effortB: { ...ONE, quota: { cores: 0 } },
  pool: { cohort: 'shared', quota: { cores: 10 } },
};

export const WHILE_BORROWING: Table = {
  'evicts a preemptible borrower of lower priority while it borrows': {
    queues: SHARED,
    running: { effort: job('effortA', 10, -1), small: job('effortB', 1, -1) },
    incoming: job('standardA', 10),
    evicted: ['effort'],
  },
  'evicts no borrower that is not preemptible while it borrows': {
    queues: SHARED,
    running: { other: firm('standardB', 10, 1) },
    incoming: job('standardA', 10, 2),
    evicted: [],
  },
  'takes own quota back of a borrower that is not preemptible': {
    queues: SHARED,
    running: { other: firm('standardB', 13, 1) },
    incoming: job('standardA', 1, 2),
    evicted: ['other'],
  },
  'evicts nothing of its own queue where that does not preempt': {
    queues: { ...SHARED, standardA: { ...ONE, reclaim: true } },
    running: { own: job('standardA', 13, 1) },
    incoming: job('standardA', 1, 2),
    evicted: [],
  },
  'evicts in its own queue where no borrower is preemptible': {
    queues: SHARED,
    running: {
      a1: firm('standardA', 10, 1),
      a2: firm('standardA', 1, 1),
      b1: job('standardB', 1, 1),
      b2: job('standardB', 1, 2),
    },
    incoming: job('standardB', 1, 3),
    evicted: ['b1'],
  },
  'evicts in its own queue and preemptible borrowers': {
    queues: SHARED,
    running: {
      high: job('standardB', 10, 2),
      mid: job('standardB', 1, 1),
      low: job('effortA', 1, -1),
      lower: job('effortA', 1, -2),
    },
    incoming: job('standardB', 2, 2),
    evicted: ['lower', 'mid'],
  },
};

const EQUAL = { cohort: 'fair', quota: { cores: 3 }, ...PREEMPTS, reclaim: true };
const FAIR = { a: EQUAL, b: EQUAL, c: EQUAL };
const OWNER = {
  owner: { cohort: 'root', quota: { cores: 2, memoryGiB: 2 }, ...PREEMPTS, reclaim: true },
  within: { cohort: 'root', quota: { cores: 2, memoryGiB: 2 } },
  guest: { cohort: 'root' },
};

export const LENT_QUOTA: Table = {
  'takes quota back of the queue that has borrowed': {
    queues: FAIR,
    running: { ...many('a', 3), ...many('b', 5), ...many('c', 1) },
    incoming: job('c', 1),
    evicted: ['b4'],
  },
  'takes of several borrowers what each has borrowed': {
    queues: FAIR,
    running: { a1: job('a', 3), a2: job('a', 1), b1: job('b', 2), b2: job('b', 3) },
    incoming: job('c', 3),
    evicted: ['a2', 'b1'],
    better:
      'Kueue evicts one workload of 3 cores from a queue that had borrowed 1, so that queue may take 2 back at once; here each returns what it owes.',
  },
  'takes nothing where all queues are within their own quota': {
    queues: FAIR,
    running: { ...many('a', 3), ...many('b', 3), ...many('c', 3) },
    incoming: job('c', 1),
    evicted: [],
  },
  'takes nothing of equals for a workload that would borrow': {
    queues: FAIR,
    running: { b1: job('b', 3), b2: job('b', 3), c1: job('c', 3) },
    incoming: job('a', 4),
    evicted: [],
  },
  'takes quota back of the highest priorities': {
    queues: OWNER,
    running: { one: job('guest', 1, 1), two: job('guest', 1, 2), within: job('within', 2, -10) },
    incoming: job('owner', 2),
    evicted: ['one', 'two'],
  },
  'takes only resources that are lacking': {
    queues: { ...OWNER, owner: { ...OWNER.owner, quota: { cores: 4, memoryGiB: 2 } } },
    running: {
      memory: withMemory('guest', 1, 2, -1),
      cores: job('guest', 3),
      within: job('within', 2, -10),
    },
    incoming: job('owner', 3),
    evicted: ['cores'],
  },
  'takes nothing of lower priorities in queues within their own quota': {
    queues: OWNER,
    running: { own: job('owner', 2, 5), within: job('within', 2, -10) },
    incoming: job('owner', 2),
    evicted: [],
  },
};
