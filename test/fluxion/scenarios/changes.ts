/** Cancels, replays, and nodes that change. */
import { cores, nodes, wholeLevel, wholeNodes } from '../jobspecs';
import { node, reserve, type Scenario } from './scenario';

export const changes: Scenario[] = [
  {
    name: 'frees a cancelled job and accepts a second cancel',
    steps: [
      { match: 1, jobspec: nodes(2, 4), expected: [1000, 1100, { a: { core: '0-3' }, b: { core: '0-3' } }] },
      { cancel: 1 },
      { cancel: 1 },
      { cancel: 77 },
      { match: 2, jobspec: nodes(2, 4), expected: [1000, 1100, { a: { core: '0-3' }, b: { core: '0-3' } }] },
      { jobs: [2] },
    ],
  },
  {
    name: 'frees whole nodes in a partial cancel and reports when no node is left',
    steps: [
      { match: 1, jobspec: nodes(2, 4), expected: [1000, 1100, { a: { core: '0-3' }, b: { core: '0-3' } }] },
      { partialCancel: 1, nodes: ['a'], empty: false },
      { free: { a: { core: 4 }, b: { core: 0 } } },
      { match: 2, jobspec: cores(4), expected: [1000, 1100, { a: { core: '0-3' } }] },
      { match: 3, jobspec: cores(1), expected: 'BUSY' },
      { partialCancel: 1, nodes: ['b'], empty: true },
      { partialCancel: 1, nodes: ['b'], empty: true },
      { jobs: [2] },
      { match: 3, jobspec: cores(4), expected: [1000, 1100, { b: { core: '0-3' } }] },
    ],
  },
  {
    name: 'restores exactly the held units in a replay',
    beyondPublic: true,
    steps: [
      {
        replay: [
          { jobid: 7, start: 950, end: 1050, nodes: [{ name: 'b', units: { core: '1-3' } }] },
          {
            jobid: 5,
            start: 900,
            end: 1200,
            nodes: [
              { name: 'b', units: { core: '0' } },
              { name: 'a', units: { core: '2' } },
            ],
          },
        ],
      },
      { jobs: [5, 7] },
      { free: { a: { core: 3 }, b: { core: 0 } } },
      { match: 8, jobspec: cores(3), expected: [1000, 1100, { a: { core: '0-1,3' } }] },
      { match: 9, jobspec: cores(3), operation: reserve, expected: [1050, 1150, { b: { core: '1-3' } }] },
      {
        replay: [{ jobid: 10, start: 990, end: 1090, nodes: [{ name: 'a', units: { core: '0' } }] }],
        fails: 10,
      },
      {
        replay: [{ jobid: 11, start: 990, end: 1090, nodes: [{ name: 'gone', units: { core: '0' } }] }],
        fails: 11,
      },
      {
        replay: [{ jobid: 8, start: 990, end: 1090, nodes: [{ name: 'a', units: { core: '0' } }] }],
        fails: 8,
      },
    ],
  },
  {
    name: 'keeps replayed whole nodes exclusive',
    steps: [
      {
        replay: [
          {
            jobid: 7,
            start: 950,
            end: 1050,
            nodes: [{ name: 'a', units: { core: '0-3' }, exclusive: true }],
          },
        ],
      },
      { match: 8, jobspec: cores(4), expected: [1000, 1100, { b: { core: '0-3' } }] },
      { match: 9, jobspec: cores(1), expected: 'BUSY' },
      { cancel: 7 },
      { match: 9, jobspec: cores(1), expected: [1000, 1100, { a: { core: '0' } }] },
    ],
  },
  {
    name: 'keeps the jobs of a node that is down and grants nothing new on it',
    steps: [
      { match: 1, jobspec: cores(2), expected: [1000, 1100, { a: { core: '0-1' } }] },
      { down: ['a'] },
      { match: 2, jobspec: cores(1), expected: [1000, 1100, { b: { core: '0' } }] },
      { match: 3, jobspec: cores(4), expected: 'BUSY' },
      { satisfiable: cores(4), expected: true },
      { jobs: [1, 2] },
      { up: ['a'] },
      { up: ['a'] },
      { match: 3, jobspec: cores(2), expected: [1000, 1100, { a: { core: '2-3' } }] },
    ],
  },
  {
    name: 'uses a node that was loaded as down once it is up',
    nodes: [node('a', { core: 4 }, { up: false }), node('b')],
    steps: [
      { match: 1, jobspec: cores(1), expected: [1000, 1100, { b: { core: '0' } }] },
      { match: 2, jobspec: nodes(1, 4), expected: 'BUSY' },
      { up: ['a'] },
      { match: 2, jobspec: nodes(2, 3), expected: [1000, 1100, { a: { core: '0-2' }, b: { core: '1-3' } }] },
    ],
  },
  {
    name: 'keeps allocations when nodes are added and removed',
    steps: [
      { match: 1, jobspec: nodes(2, 4), expected: [1000, 1100, { a: { core: '0-3' }, b: { core: '0-3' } }] },
      { add: [node('c', { core: 2 }), node('d', { core: 2 }, { up: false })] },
      { match: 2, jobspec: cores(2), expected: [1000, 1100, { c: { core: '0-1' } }] },
      { match: 3, jobspec: cores(1), expected: 'BUSY' },
      { remove: ['b', 'nobody'], affected: [1] },
      { jobs: [1, 2] },
      { free: { a: { core: 0 }, c: { core: 0 }, d: { core: 2 } } },
      { up: ['d'] },
      { match: 3, jobspec: cores(2), expected: [1000, 1100, { d: { core: '0-1' } }] },
      { cancel: 1 },
      { match: 4, jobspec: nodes(2, 1), expected: 'BUSY' },
      { add: [node('b')] },
      { match: 4, jobspec: nodes(2, 1), expected: [1000, 1100, { a: { core: '0' }, b: { core: '0' } }] },
    ],
  },
  {
    name: 'drops a reservation that loses a node, and keeps the rest of a running job',
    beyondPublic: true,
    steps: [
      { match: 1, jobspec: nodes(2, 4), expected: [1000, 1100, { a: { core: '0-3' }, b: { core: '0-3' } }] },
      {
        match: 2,
        jobspec: nodes(2, 4),
        operation: reserve,
        expected: [1100, 1200, { a: { core: '0-3' }, b: { core: '0-3' } }],
      },
      { remove: ['b'], affected: [1, 2] },
      { jobs: [1] },
      { match: 3, jobspec: cores(4), operation: reserve, expected: [1100, 1200, { a: { core: '0-3' } }] },
    ],
  },
  {
    name: 'keeps the start of the reservation of a zone when jobs end early',
    beyondPublic: true,
    nodes: [node('a', { core: 4 }, { zone: 'y' }), node('b', { core: 4 }, { zone: 'z' })],
    steps: [
      { match: 1, jobspec: wholeNodes(1), expected: [1000, 1100, { a: {} }] },
      { match: 2, jobspec: wholeNodes(1, { walltime: 200 }), expected: [1000, 1200, { b: {} }] },
      { match: 3, jobspec: wholeLevel('zone'), operation: reserve, expected: [1100, 1200, { a: {} }] },
      { cancel: 1 },
      { cancel: 2 },
      { now: 1010 },
      {
        match: 4,
        jobspec: wholeLevel('zone', { walltime: 60 }),
        operation: reserve,
        expected: [1010, 1070, { a: {} }],
      },
    ],
  },
  {
    name: 'lists no units of a type of which a node has none',
    nodes: [node('a', { core: 4, gpu: 0 })],
    steps: [{ free: { a: { core: 4 } } }],
  },
  {
    name: 'finds a job satisfiable after nodes were added',
    steps: [
      { match: 1, jobspec: nodes(3, 1), expected: 'UNSATISFIABLE' },
      { add: [node('c')] },
      { satisfiable: nodes(3, 1), expected: true },
      {
        match: 1,
        jobspec: nodes(3, 1),
        expected: [1000, 1100, { a: { core: '0' }, b: { core: '0' }, c: { core: '0' } }],
      },
    ],
  },
  {
    name: 'starts with an empty cluster',
    nodes: [],
    beyondPublic: true,
    steps: [
      { match: 1, jobspec: cores(1), expected: 'UNSATISFIABLE' },
      // flux-sched counts nodes first, and calls too many of them busy.
      { match: 1, jobspec: nodes(1, 1), operation: reserve, expected: 'BUSY' },
      { add: [node('a')] },
      { match: 1, jobspec: cores(1), expected: [1000, 1100, { a: { core: '0' } }] },
    ],
  },
  {
    name: 'drops all state at init',
    steps: [
      { match: 1, jobspec: nodes(2, 4), expected: [1000, 1100, { a: { core: '0-3' }, b: { core: '0-3' } }] },
      { init: [node('x', { core: 1 })] },
      { jobs: [] },
      { match: 2, jobspec: cores(1), expected: [1000, 1100, { x: { core: '0' } }] },
      { match: 3, jobspec: cores(2), expected: 'UNSATISFIABLE' },
    ],
  },
];
