/** Which resources a match grants. */
import { cores, nodes, units, wholeNodes } from '../jobspecs';
import { node, reserve, type Scenario } from './scenario';

export const grants: Scenario[] = [
  {
    name: 'matches until full, packing node after node',
    steps: [
      { match: 1, jobspec: cores(3), expected: [1000, 1100, { a: { core: '0-2' } }] },
      { match: 2, jobspec: cores(2), expected: [1000, 1100, { b: { core: '0-1' } }] },
      { match: 3, jobspec: cores(1), expected: [1000, 1100, { a: { core: '3' } }] },
      { match: 4, jobspec: cores(2), expected: [1000, 1100, { b: { core: '2-3' } }] },
      { match: 5, jobspec: cores(1), expected: 'BUSY' },
      { free: { a: { core: 0 }, b: { core: 0 } } },
      { jobs: [1, 2, 3, 4] },
    ],
  },
  {
    name: 'grants several nodes to one job',
    steps: [
      { match: 1, jobspec: nodes(2, 3), expected: [1000, 1100, { a: { core: '0-2' }, b: { core: '0-2' } }] },
      { match: 2, jobspec: nodes(2, 1), expected: [1000, 1100, { a: { core: '3' }, b: { core: '3' } }] },
      { match: 3, jobspec: nodes(1, 1), expected: 'BUSY' },
    ],
  },
  {
    name: 'takes cores, memory and gpus of one slot from one node',
    nodes: [node('a', { core: 8, memory: 2 }), node('b', { core: 4, memory: 8, gpu: 2 })],
    steps: [
      {
        match: 1,
        jobspec: units({ core: 2, memory: 3 }),
        expected: [1000, 1100, { b: { core: '0-1', memory: '0-2' } }],
      },
      {
        match: 2,
        jobspec: units({ core: 1, gpu: 1 }),
        expected: [1000, 1100, { b: { core: '2', gpu: '0' } }],
      },
      { match: 3, jobspec: units({ core: 1, gpu: 2 }), expected: 'BUSY' },
      { match: 4, jobspec: cores(8), expected: [1000, 1100, { a: { core: '0-7' } }] },
      { free: { a: { core: 0, memory: 2 }, b: { core: 1, memory: 5, gpu: 1 } } },
    ],
  },
  {
    name: 'tells busy from unsatisfiable',
    steps: [
      { match: 1, jobspec: nodes(2, 4), expected: [1000, 1100, { a: { core: '0-3' }, b: { core: '0-3' } }] },
      { match: 2, jobspec: cores(4), expected: 'BUSY' },
      { match: 3, jobspec: cores(5), expected: 'UNSATISFIABLE' },
      { match: 4, jobspec: nodes(3, 1), expected: 'UNSATISFIABLE' },
      { match: 5, jobspec: cores(5), operation: reserve, expected: 'UNSATISFIABLE' },
      { match: 6, jobspec: cores(5), operation: 'allocate', expected: 'BUSY' },
      // Fluxion counts nodes first: more nodes than are up are BUSY for all operations but the two above.
      { match: 7, jobspec: nodes(3, 1), operation: reserve, expected: 'BUSY' },
      { satisfiable: nodes(2, 4), expected: true },
      { satisfiable: cores(5), expected: false },
    ],
  },
  {
    name: 'refuses invalid jobspecs',
    steps: [
      { match: 1, jobspec: { ...cores(1), version: 0 }, expected: 'INVALID' },
      {
        match: 2,
        jobspec: { ...cores(1), resources: [{ type: 'slot', count: 1, with: [{ type: 'core', count: 1 }] }] },
        expected: 'INVALID',
      },
      { match: 3, jobspec: cores(1, { walltime: -5 }), expected: 'INVALID' },
      { match: 4, jobspec: cores(1), expected: [1000, 1100, { a: { core: '0' } }] },
    ],
  },
  {
    name: 'refuses a job id that is in use',
    steps: [
      { match: 1, jobspec: cores(1), expected: [1000, 1100, { a: { core: '0' } }] },
      { match: 1, jobspec: cores(1), expected: 'INVALID' },
      { cancel: 1 },
      { match: 1, jobspec: cores(2), expected: [1000, 1100, { a: { core: '0-1' } }] },
    ],
  },
  {
    name: 'applies properties and host lists as constraints',
    nodes: [
      node('a', { core: 4 }, { properties: ['zone=x'] }),
      node('b', { core: 4 }, { properties: ['zone=y', 'ssd'] }),
    ],
    steps: [
      {
        match: 1,
        jobspec: cores(1, { constraints: { properties: ['ssd'] } }),
        expected: [1000, 1100, { b: { core: '0' } }],
      },
      {
        match: 2,
        jobspec: cores(1, { constraints: { properties: ['^ssd'] } }),
        expected: [1000, 1100, { a: { core: '0' } }],
      },
      {
        match: 3,
        jobspec: cores(1, { constraints: { hostlist: ['b'] } }),
        expected: [1000, 1100, { b: { core: '1' } }],
      },
      {
        match: 4,
        jobspec: cores(1, { constraints: { not: [{ hostlist: ['a', 'b'] }] } }),
        expected: 'UNSATISFIABLE',
      },
    ],
  },
  {
    name: 'matches nodes below zones and racks',
    nodes: [
      node('a', { core: 2 }, { zone: 'x', rack: 'r0' }),
      node('b', { core: 2 }, { zone: 'y', rack: 'r0' }),
      node('c', { core: 2 }, { zone: 'x', rack: 'r0' }),
    ],
    steps: [
      {
        match: 1,
        jobspec: nodes(3, 1),
        expected: [1000, 1100, { a: { core: '0' }, c: { core: '0' }, b: { core: '0' } }],
      },
      { match: 2, jobspec: cores(1), expected: [1000, 1100, { a: { core: '1' } }] },
    ],
  },
  {
    name: 'grants whole nodes exclusively',
    steps: [
      { match: 1, jobspec: cores(1), expected: [1000, 1100, { a: { core: '0' } }] },
      { match: 2, jobspec: wholeNodes(1), expected: [1000, 1100, { b: {} }] },
      { match: 3, jobspec: wholeNodes(1), expected: 'BUSY' },
      { match: 4, jobspec: cores(4), expected: 'BUSY' },
      { free: { a: { core: 3 }, b: { core: 0 } } },
    ],
  },
];
