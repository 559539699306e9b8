import type { Pod } from '../../runtime/kubernetes/types';
import { rowIn } from '../queue/rows';
import type { Observation } from './observation';
import { plansBehindServices } from './plans';

const YEAR_SECONDS = 365 * 24 * 3600;
const node = (core: string) => [{ name: 'node-1', units: { core } }];
const allocation = (jobid: number, start: number, core: string) => ({
  jobid,
  start,
  end: start + 60,
  nodes: node(core),
});
const service = rowIn('Running', { uid: 's', name: 's', allocation: allocation(1, 0, '0-1') });
const wide = rowIn('Waiting', { uid: 'w', name: 'w', jobid: 2, estimatedStart: 100 });
const pod: Pod = {
  metadata: { name: 's', namespace: 'science', uid: 's', resourceVersion: '1', creationTimestamp: '' },
  spec: { containers: [], restartPolicy: 'Always' },
};
const agreed: Observation = {
  rows: [service, wide],
  events: [],
  jobs: [],
  pods: [pod],
  nodes: [],
  fluxion: { jobs: [service.allocation!, allocation(2, 100, '2-3')], nodes: [] },
};
const behind = { fluxion: { jobs: [service.allocation!, allocation(2, 100, '1-2')], nodes: [] } };

test.each<[string, Partial<Observation>]>([
  ['units that no service holds', {}],
  ['units of a batch pod', { ...behind, pods: [{ ...pod, spec: { ...pod.spec, restartPolicy: 'Never' } }] }],
  [
    'units of a service with a walltime',
    {
      ...behind,
      pods: [{ ...pod, metadata: { ...pod.metadata, annotations: { 'fluxqueue/walltime': '9s' } } }],
    },
  ],
  [
    'units of a service that has to leave',
    { ...behind, rows: [{ ...service, evictionReason: 'for w' }, wide] },
  ],
])('accepts a reservation of %s', (_, over) => {
  expect(plansBehindServices({ ...agreed, ...over })).toEqual([]);
});

test('reports a reservation of units that a service holds', () => {
  expect(plansBehindServices({ ...agreed, ...behind })).toEqual([
    { invariant: 'plan', text: 'w is planned behind the service s' },
  ]);
});

test('reports a start that waits for something without an end', () => {
  const late = { ...wide, estimatedStart: wide.submittedAt + 2 * YEAR_SECONDS };
  expect(plansBehindServices({ ...agreed, rows: [service, late] })).toEqual([
    { invariant: 'plan', text: 'the estimated start of w is more than a year ahead' },
  ]);
});
