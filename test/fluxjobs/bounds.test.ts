import { boundedAllocation, boundedHostlist, boundedMessage } from '../../runtime/fluxjobs/bounds';
import { fluxJobSpec, fluxJobStatus } from '../../runtime/fluxjobs/status';
import { jobspecOf } from '../../runtime/jobspec/jobspec';
import { formatHostlist, parseHostlist } from '../../runtime/resources/hostlist';
import { rowIn } from '../queue/rows';

const names = (count: number, name: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => name(i));

test('what is short stays as it is', () => {
  expect(boundedMessage('running on n1')).toBe('running on n1');
  expect(boundedHostlist('n[0-3,7]')).toBe('n[0-3,7]');
  expect(boundedAllocation([{ node: 'n1' }])).toEqual([{ node: 'n1' }]);
});

test('a message is one line, whatever its user has named', () => {
  const jobspec = jobspecOf({ pod: { containers: [{}] }, pods: 1, walltime: 60 });
  const unmodeled = [
    'volumes[0] (PersistentVolumeClaim x\u001b]0;owned\u0007\u001b[2J\nwhat to do: y does not exist)',
  ];
  const attributes = { ...jobspec.attributes, user: { unmodeled } };
  const row = rowIn('Waiting', { jobspec: { ...jobspec, attributes } });
  const { conditions } = fluxJobStatus(row, { position: undefined, wait: undefined, previous: {}, now: 5 });
  expect(conditions!.map(({ message }) => message).join('')).not.toMatch(/\p{Cc}/u);
  expect(conditions!.at(-1)!.message).toMatch(/Claim x ]0;owned \[2J what to do: y does not exist\)$/);
});

test.each([
  ['names without numbers', names(2000, (i) => `n${String.fromCharCode(97 + (i % 26))}-${i}-x`)],
  ['one long range', names(5000, (i) => `n${i * 2}`)],
  ['many ranges', names(3000, (i) => `rack${i % 700}-n${i * 3}`)],
])('a long hostlist of %s is cut behind a whole entry', (_, hosts) => {
  const bounded = boundedHostlist(formatHostlist(hosts));
  expect(bounded.length).toBeLessThanOrEqual(8 * 1024 + 3);
  expect(bounded).toMatch(/,…$/);
  const shown = parseHostlist(bounded.slice(0, -2));
  expect(shown!.length).toBeGreaterThan(100);
  expect(hosts).toEqual(expect.arrayContaining([...shown!]));
});

test('a FluxJob takes less than 64 kB, whatever its workload is', () => {
  const nodes = names(5000, (i) => `ip-10-${i % 251}-${i}.eu-central-1.compute.internal`).map((name) => ({
    name,
    units: { core: '0,2,4,6,8,10,12,14-63', memory: '0-255' },
  }));
  const nodeSelector = Object.fromEntries(names(400, (i) => `key-${i}`).map((key) => [key, 'v'.repeat(40)]));
  const jobspec = jobspecOf({ pod: { containers: [{}], nodeSelector }, pods: 5000, walltime: 60 });
  const unmodeled = names(1000, (i) => `spec.template.spec.volumes[${i}]`);
  const attributes = { ...jobspec.attributes, user: { unmodeled } };
  const row = rowIn('Running', {
    name: 'j'.repeat(253),
    jobspec: { ...jobspec, attributes },
    allocation: { jobid: 7, start: 0, end: 9, nodes },
    evictionReason: 'x'.repeat(5000),
  });
  const context = { position: undefined, wait: undefined, previous: {}, now: 5 };
  const status = fluxJobStatus(row, context);
  const fluxJob = { spec: fluxJobSpec({ ...row, jobspec }, 'batch/v1'), status };
  expect(JSON.stringify(fluxJob).length).toBeLessThan(62_000);
  expect(status).toMatchObject({ nodeCount: 5000, nodes: expect.stringMatching(/,…$/) });
  expect(status).not.toHaveProperty('allocation');
  expect(status.conditions!.find(({ type }) => type === 'PartiallyModeled')!.message).toHaveLength(1024);
});

test('an allocation of thousands of nodes is written once for all parts of the status, and not node by node', () => {
  let reads = 0;
  const nodes = names(5000, (i) => `n${i}`).map((name) => ({
    name,
    get units() {
      reads += 1;
      return { core: '0' };
    },
  }));
  const row = rowIn('Running', { allocation: { jobid: 7, start: 0, end: 9, nodes } });
  const context = { position: undefined, wait: undefined, previous: {}, now: 5 };
  const status = fluxJobStatus(row, context);
  expect(status).toMatchObject({ nodes: 'n[0-4999]', nodeCount: 5000 });
  expect(reads).toBe(0);
});
