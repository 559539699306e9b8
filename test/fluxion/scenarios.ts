/**
 * What every Fluxion server answers: one table. Times are absolute seconds;
 * grants are written `[start, end, { node: { type: idset } }]`.
 */

import type { MatchPolicy } from '../../constructs/api/policies';
import type { MatchOperation } from '../../runtime/fluxion/types';
import type { Jobspec } from '../../runtime/jobspec/types';
import type { Allocation, GraphNode, UnitCounts, UnitIds } from '../../runtime/resources/types';
import { cores, nodes, units, wholeNodes } from './jobspecs';

export type Grant = readonly [start: number, end: number, nodes: Readonly<Record<string, UnitIds>>];

export type Step =
  /** Time moves; everything after is asked then. */
  | { readonly now: number }
  | {
      readonly ask: number;
      readonly for: Jobspec;
      /** @default "allocate_with_satisfiability" */
      readonly by?: MatchOperation;
      readonly gives: Grant | 'BUSY' | 'UNSATISFIABLE' | 'INVALID';
    }
  | { readonly satisfiable: Jobspec; readonly gives: boolean }
  | { readonly cancel: number }
  | { readonly partialCancel: number; readonly nodes: readonly string[]; readonly gone: boolean }
  | { readonly replay: readonly Allocation[]; readonly fails?: number }
  | { readonly down: readonly string[] }
  | { readonly up: readonly string[] }
  | { readonly add: readonly GraphNode[] }
  | { readonly remove: readonly string[]; readonly hit: readonly number[] }
  | { readonly init: readonly GraphNode[] }
  | { readonly jobs: readonly number[] }
  | { readonly free: Readonly<Record<string, UnitCounts>> };

export interface Scenario {
  readonly name: string;
  /** @default two nodes a and b of 4 cores */
  readonly nodes?: readonly GraphNode[];
  /** @default "lonode" */
  readonly policy?: MatchPolicy;
  /** Asks for what a public three-RPC server can't do at all, or not exactly. @default false */
  readonly beyondPublic?: boolean;
  readonly steps: readonly Step[];
}

export const START = 1000;

const node = (name: string, counts: UnitCounts = { core: 4 }, more: Partial<GraphNode> = {}): GraphNode => ({
  name,
  units: counts,
  ...more,
});

export const TWO_NODES = [node('a'), node('b')];
const reserve = 'allocate_orelse_reserve';

const grants: Scenario[] = [
  {
    name: 'matches until full, packing node after node',
    steps: [
      { ask: 1, for: cores(3), gives: [1000, 1100, { a: { core: '0-2' } }] },
      { ask: 2, for: cores(2), gives: [1000, 1100, { b: { core: '0-1' } }] },
      { ask: 3, for: cores(1), gives: [1000, 1100, { a: { core: '3' } }] },
      { ask: 4, for: cores(2), gives: [1000, 1100, { b: { core: '2-3' } }] },
      { ask: 5, for: cores(1), gives: 'BUSY' },
      { free: { a: { core: 0 }, b: { core: 0 } } },
      { jobs: [1, 2, 3, 4] },
    ],
  },
  {
    name: 'several nodes for one job',
    steps: [
      { ask: 1, for: nodes(2, 3), gives: [1000, 1100, { a: { core: '0-2' }, b: { core: '0-2' } }] },
      { ask: 2, for: nodes(2, 1), gives: [1000, 1100, { a: { core: '3' }, b: { core: '3' } }] },
      { ask: 3, for: nodes(1, 1), gives: 'BUSY' },
    ],
  },
  {
    name: 'cores, memory and gpus of one slot come from one node',
    nodes: [node('a', { core: 8, memory: 2 }), node('b', { core: 4, memory: 8, gpu: 2 })],
    steps: [
      {
        ask: 1,
        for: units({ core: 2, memory: 3 }),
        gives: [1000, 1100, { b: { core: '0-1', memory: '0-2' } }],
      },
      { ask: 2, for: units({ core: 1, gpu: 1 }), gives: [1000, 1100, { b: { core: '2', gpu: '0' } }] },
      { ask: 3, for: units({ core: 1, gpu: 2 }), gives: 'BUSY' },
      { ask: 4, for: cores(8), gives: [1000, 1100, { a: { core: '0-7' } }] },
      { free: { a: { core: 0, memory: 2 }, b: { core: 1, memory: 5, gpu: 1 } } },
    ],
  },
  {
    name: 'busy is not unsatisfiable',
    steps: [
      { ask: 1, for: nodes(2, 4), gives: [1000, 1100, { a: { core: '0-3' }, b: { core: '0-3' } }] },
      { ask: 2, for: cores(4), gives: 'BUSY' },
      { ask: 3, for: cores(5), gives: 'UNSATISFIABLE' },
      { ask: 4, for: nodes(3, 1), gives: 'UNSATISFIABLE' },
      { ask: 5, for: cores(5), by: reserve, gives: 'UNSATISFIABLE' },
      { ask: 6, for: cores(5), by: 'allocate', gives: 'BUSY' },
      // Fluxion counts the nodes before it looks: more than are up is busy to every operation but these two.
      { ask: 7, for: nodes(3, 1), by: reserve, gives: 'BUSY' },
      { satisfiable: nodes(2, 4), gives: true },
      { satisfiable: cores(5), gives: false },
    ],
  },
  {
    name: 'what no Fluxion can read is invalid',
    steps: [
      { ask: 1, for: { ...cores(1), version: 0 }, gives: 'INVALID' },
      {
        ask: 2,
        for: { ...cores(1), resources: [{ type: 'slot', count: 1, with: [{ type: 'core', count: 1 }] }] },
        gives: 'INVALID',
      },
      { ask: 3, for: cores(1, { walltime: -5 }), gives: 'INVALID' },
      { ask: 4, for: cores(1), gives: [1000, 1100, { a: { core: '0' } }] },
    ],
  },
  {
    name: 'a job id that holds something is not given twice',
    steps: [
      { ask: 1, for: cores(1), gives: [1000, 1100, { a: { core: '0' } }] },
      { ask: 1, for: cores(1), gives: 'INVALID' },
      { cancel: 1 },
      { ask: 1, for: cores(2), gives: [1000, 1100, { a: { core: '0-1' } }] },
    ],
  },
  {
    name: 'properties and host lists narrow the nodes',
    nodes: [
      node('a', { core: 4 }, { properties: ['zone=x'] }),
      node('b', { core: 4 }, { properties: ['zone=y', 'ssd'] }),
    ],
    steps: [
      {
        ask: 1,
        for: cores(1, { constraints: { properties: ['ssd'] } }),
        gives: [1000, 1100, { b: { core: '0' } }],
      },
      {
        ask: 2,
        for: cores(1, { constraints: { properties: ['^ssd'] } }),
        gives: [1000, 1100, { a: { core: '0' } }],
      },
      {
        ask: 3,
        for: cores(1, { constraints: { hostlist: ['b'] } }),
        gives: [1000, 1100, { b: { core: '1' } }],
      },
      { ask: 4, for: cores(1, { constraints: { not: [{ hostlist: ['a', 'b'] }] } }), gives: 'UNSATISFIABLE' },
    ],
  },
  {
    name: 'zones and racks above the nodes',
    nodes: [
      node('a', { core: 2 }, { zone: 'x', rack: 'r0' }),
      node('b', { core: 2 }, { zone: 'y', rack: 'r0' }),
      node('c', { core: 2 }, { zone: 'x', rack: 'r0' }),
    ],
    steps: [
      {
        ask: 1,
        for: nodes(3, 1),
        gives: [1000, 1100, { a: { core: '0' }, c: { core: '0' }, b: { core: '0' } }],
      },
      { ask: 2, for: cores(1), gives: [1000, 1100, { a: { core: '1' } }] },
    ],
  },
  {
    name: 'whole nodes are given away alone',
    steps: [
      { ask: 1, for: cores(1), gives: [1000, 1100, { a: { core: '0' } }] },
      { ask: 2, for: wholeNodes(1), gives: [1000, 1100, { b: {} }] },
      { ask: 3, for: wholeNodes(1), gives: 'BUSY' },
      { ask: 4, for: cores(4), gives: 'BUSY' },
      { free: { a: { core: 3 }, b: { core: 0 } } },
    ],
  },
];

const changes: Scenario[] = [
  {
    name: 'cancel frees, and twice is no error',
    steps: [
      { ask: 1, for: nodes(2, 4), gives: [1000, 1100, { a: { core: '0-3' }, b: { core: '0-3' } }] },
      { cancel: 1 },
      { cancel: 1 },
      { cancel: 77 },
      { ask: 2, for: nodes(2, 4), gives: [1000, 1100, { a: { core: '0-3' }, b: { core: '0-3' } }] },
      { jobs: [2] },
    ],
  },
  {
    name: 'partial cancel frees whole nodes and says when nothing is left',
    steps: [
      { ask: 1, for: nodes(2, 4), gives: [1000, 1100, { a: { core: '0-3' }, b: { core: '0-3' } }] },
      { partialCancel: 1, nodes: ['a'], gone: false },
      { free: { a: { core: 4 }, b: { core: 0 } } },
      { ask: 2, for: cores(4), gives: [1000, 1100, { a: { core: '0-3' } }] },
      { ask: 3, for: cores(1), gives: 'BUSY' },
      { partialCancel: 1, nodes: ['b'], gone: true },
      { partialCancel: 1, nodes: ['b'], gone: true },
      { jobs: [2] },
      { ask: 3, for: cores(4), gives: [1000, 1100, { b: { core: '0-3' } }] },
    ],
  },
  {
    name: 'replay gives back exactly what was held',
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
      { ask: 8, for: cores(3), gives: [1000, 1100, { a: { core: '0-1,3' } }] },
      { ask: 9, for: cores(3), by: reserve, gives: [1050, 1150, { b: { core: '1-3' } }] },
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
    name: 'replay of whole nodes keeps others out',
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
      { ask: 8, for: cores(4), gives: [1000, 1100, { b: { core: '0-3' } }] },
      { ask: 9, for: cores(1), gives: 'BUSY' },
      { cancel: 7 },
      { ask: 9, for: cores(1), gives: [1000, 1100, { a: { core: '0' } }] },
    ],
  },
  {
    name: 'a node that is down keeps its job and gets nothing new',
    steps: [
      { ask: 1, for: cores(2), gives: [1000, 1100, { a: { core: '0-1' } }] },
      { down: ['a'] },
      { ask: 2, for: cores(1), gives: [1000, 1100, { b: { core: '0' } }] },
      { ask: 3, for: cores(4), gives: 'BUSY' },
      { satisfiable: cores(4), gives: true },
      { jobs: [1, 2] },
      { up: ['a'] },
      { up: ['a'] },
      { ask: 3, for: cores(2), gives: [1000, 1100, { a: { core: '2-3' } }] },
    ],
  },
  {
    name: 'a node that starts down is taken in when it comes up',
    nodes: [node('a', { core: 4 }, { up: false }), node('b')],
    steps: [
      { ask: 1, for: cores(1), gives: [1000, 1100, { b: { core: '0' } }] },
      { ask: 2, for: nodes(1, 4), gives: 'BUSY' },
      { up: ['a'] },
      { ask: 2, for: nodes(2, 3), gives: [1000, 1100, { a: { core: '0-2' }, b: { core: '1-3' } }] },
    ],
  },
  {
    name: 'nodes come and go without losing what is held',
    steps: [
      { ask: 1, for: nodes(2, 4), gives: [1000, 1100, { a: { core: '0-3' }, b: { core: '0-3' } }] },
      { add: [node('c', { core: 2 }), node('d', { core: 2 }, { up: false })] },
      { ask: 2, for: cores(2), gives: [1000, 1100, { c: { core: '0-1' } }] },
      { ask: 3, for: cores(1), gives: 'BUSY' },
      { remove: ['b', 'nobody'], hit: [1] },
      { jobs: [1, 2] },
      { free: { a: { core: 0 }, c: { core: 0 }, d: { core: 2 } } },
      { up: ['d'] },
      { ask: 3, for: cores(2), gives: [1000, 1100, { d: { core: '0-1' } }] },
      { cancel: 1 },
      { ask: 4, for: nodes(2, 1), gives: 'BUSY' },
      { add: [node('b')] },
      { ask: 4, for: nodes(2, 1), gives: [1000, 1100, { a: { core: '0' }, b: { core: '0' } }] },
    ],
  },
  {
    name: 'a job that grew with the cluster is satisfiable after',
    steps: [
      { ask: 1, for: nodes(3, 1), gives: 'UNSATISFIABLE' },
      { add: [node('c')] },
      { satisfiable: nodes(3, 1), gives: true },
      {
        ask: 1,
        for: nodes(3, 1),
        gives: [1000, 1100, { a: { core: '0' }, b: { core: '0' }, c: { core: '0' } }],
      },
    ],
  },
  {
    name: 'a cluster that starts empty',
    nodes: [],
    beyondPublic: true,
    steps: [
      { ask: 1, for: cores(1), gives: 'UNSATISFIABLE' },
      { add: [node('a')] },
      { ask: 1, for: cores(1), gives: [1000, 1100, { a: { core: '0' } }] },
    ],
  },
  {
    name: 'init forgets everything',
    steps: [
      { ask: 1, for: nodes(2, 4), gives: [1000, 1100, { a: { core: '0-3' }, b: { core: '0-3' } }] },
      { init: [node('x', { core: 1 })] },
      { jobs: [] },
      { ask: 2, for: cores(1), gives: [1000, 1100, { x: { core: '0' } }] },
      { ask: 3, for: cores(2), gives: 'UNSATISFIABLE' },
    ],
  },
];

const time: Scenario[] = [
  {
    name: 'asking holds nothing',
    steps: [
      { ask: 1, for: cores(4), by: 'without_allocating', gives: [1000, 1100, { a: { core: '0-3' } }] },
      { jobs: [] },
      {
        ask: 2,
        for: nodes(2, 4, { walltime: 60 }),
        gives: [1000, 1060, { a: { core: '0-3' }, b: { core: '0-3' } }],
      },
      { ask: 1, for: cores(4), by: 'without_allocating', gives: 'BUSY' },
      { ask: 1, for: cores(4), by: 'without_allocating_future', gives: [1060, 1160, { a: { core: '0-3' } }] },
      { jobs: [2] },
      { cancel: 2 },
      { ask: 3, for: cores(4), by: reserve, gives: [1000, 1100, { a: { core: '0-3' } }] },
    ],
  },
  {
    name: 'a reservation waits for the end of what runs, and short jobs pass it',
    steps: [
      { ask: 1, for: cores(4), gives: [1000, 1100, { a: { core: '0-3' } }] },
      {
        ask: 2,
        for: nodes(2, 4),
        by: reserve,
        gives: [1100, 1200, { a: { core: '0-3' }, b: { core: '0-3' } }],
      },
      { ask: 3, for: cores(4, { walltime: 100 }), gives: [1000, 1100, { b: { core: '0-3' } }] },
      { ask: 4, for: cores(1, { walltime: 1 }), gives: 'BUSY' },
      { cancel: 3 },
      { ask: 5, for: cores(4, { walltime: 101 }), gives: 'BUSY' },
      { cancel: 2 },
      { ask: 5, for: cores(4, { walltime: 101 }), gives: [1000, 1101, { b: { core: '0-3' } }] },
    ],
  },
  {
    name: 'time moves: jobs end at their second, reservations start at theirs',
    steps: [
      { ask: 1, for: cores(4, { walltime: 50 }), gives: [1000, 1050, { a: { core: '0-3' } }] },
      { now: 1020 },
      { ask: 2, for: cores(4, { walltime: 60 }), gives: [1020, 1080, { b: { core: '0-3' } }] },
      { now: 1030 },
      { ask: 3, for: cores(4, { walltime: 10 }), by: reserve, gives: [1050, 1060, { a: { core: '0-3' } }] },
      { cancel: 3 },
      {
        ask: 3,
        for: nodes(2, 4, { walltime: 10 }),
        by: reserve,
        gives: [1080, 1090, { a: { core: '0-3' }, b: { core: '0-3' } }],
      },
      { cancel: 3 },
      { now: 1050 },
      { cancel: 1 },
      { ask: 4, for: cores(4, { walltime: 10 }), by: reserve, gives: [1050, 1060, { a: { core: '0-3' } }] },
      {
        ask: 5,
        for: nodes(2, 1, { walltime: 10 }),
        by: reserve,
        gives: [1080, 1090, { a: { core: '0' }, b: { core: '0' } }],
      },
    ],
  },
  {
    name: 'a job that has overrun is taken to hold on for one second more',
    steps: [
      { ask: 1, for: cores(4, { walltime: 50 }), gives: [1000, 1050, { a: { core: '0-3' } }] },
      { ask: 2, for: cores(4, { walltime: 500 }), gives: [1000, 1500, { b: { core: '0-3' } }] },
      { now: 1060 },
      { ask: 3, for: cores(1), gives: 'BUSY' },
      { ask: 3, for: cores(1), by: reserve, gives: [1061, 1161, { a: { core: '0' } }] },
      { cancel: 3 },
      { now: 1070 },
      { ask: 3, for: cores(1), by: reserve, gives: [1071, 1171, { a: { core: '0' } }] },
    ],
  },
  {
    name: 'reserve, run, backfill at a later time',
    steps: [
      { ask: 1, for: cores(3, { walltime: 100 }), gives: [1000, 1100, { a: { core: '0-2' } }] },
      { now: 1040 },
      {
        ask: 2,
        for: nodes(2, 4, { walltime: 50 }),
        by: reserve,
        gives: [1100, 1150, { a: { core: '0-3' }, b: { core: '0-3' } }],
      },
      { ask: 3, for: cores(4, { walltime: 60 }), gives: [1040, 1100, { b: { core: '0-3' } }] },
      { ask: 4, for: cores(1, { walltime: 61 }), gives: 'BUSY' },
      { ask: 4, for: cores(1, { walltime: 60 }), gives: [1040, 1100, { a: { core: '3' } }] },
      { cancel: 2 },
      { now: 1100 },
      { cancel: 1 },
      { cancel: 3 },
      { cancel: 4 },
      {
        ask: 2,
        for: nodes(2, 4, { walltime: 50 }),
        by: reserve,
        gives: [1100, 1150, { a: { core: '0-3' }, b: { core: '0-3' } }],
      },
    ],
  },
  {
    name: 'a chain of reservations, each after the one before',
    beyondPublic: true,
    steps: [
      {
        ask: 1,
        for: nodes(2, 4, { walltime: 50 }),
        gives: [1000, 1050, { a: { core: '0-3' }, b: { core: '0-3' } }],
      },
      { now: 1010 },
      {
        ask: 2,
        for: nodes(2, 4, { walltime: 30 }),
        by: reserve,
        gives: [1050, 1080, { a: { core: '0-3' }, b: { core: '0-3' } }],
      },
      { ask: 3, for: cores(4, { walltime: 20 }), by: reserve, gives: [1080, 1100, { a: { core: '0-3' } }] },
      {
        ask: 4,
        for: nodes(2, 2, { walltime: 20 }),
        by: reserve,
        gives: [1100, 1120, { a: { core: '0-1' }, b: { core: '0-1' } }],
      },
      { ask: 5, for: cores(4, { walltime: 20 }), by: reserve, gives: [1080, 1100, { b: { core: '0-3' } }] },
      { cancel: 2 },
      { cancel: 3 },
      { cancel: 4 },
      { cancel: 5 },
      { now: 1025 },
      { ask: 3, for: cores(4, { walltime: 20 }), by: reserve, gives: [1050, 1070, { a: { core: '0-3' } }] },
      {
        ask: 4,
        for: nodes(2, 2, { walltime: 20 }),
        by: reserve,
        gives: [1070, 1090, { a: { core: '0-1' }, b: { core: '0-1' } }],
      },
      { ask: 5, for: cores(2, { walltime: 20 }), by: reserve, gives: [1050, 1070, { b: { core: '0-1' } }] },
    ],
  },
];

export const SCENARIOS: readonly Scenario[] = [...grants, ...changes, ...time];
