import { steady } from './steady';

const START = Date.parse('2031-02-03T04:05:06.789Z');
const after = (seconds: number) => new Date(START + seconds * 1000).toISOString();
const short = (seconds: number) => after(seconds).replace(/\.\d+/, '');

/** Two runs of one command: everything came at other moments, to other controllers, with other uids. */
const printed = (
  seconds: number,
  uid: string,
  age: string,
) => `QUEUE    POSITION  WORKLOAD  START                  AGE   REASON
default            job/a     ${short(seconds)}   ${age.padEnd(4)}
default  1         job/b     ~${short(3600 + seconds)}  ${age.padEnd(4)}  Reserved

TIME                      KIND  UID                                   EVENT      BY                REASON
${after(seconds)}  Job   ${uid}  Submitted  ada               was added
${after(seconds + 1)}  Job   ${uid}  Waiting    vm-${uid.slice(0, 4)}_${uid.slice(0, 8)}  Reserved: by others

allocated hours of namespace science, and jobs that ended, from ${after(-seconds * 86_400)} until ${after(seconds)}
estimates were off by ${seconds}s (p50) and 2m${seconds}s (p90) in 4 jobs of all namespaces in the last 7 days
`;

test('two runs of a command give the same bytes', () => {
  const first = steady(printed(3, '5b9a2c1d-3f0c-4f0e-9d6f-0a527d0f8e77', '8s'), START);
  const second = steady(printed(590, 'a0000000-3f0c-4f0e-9d6f-0a527d0f8e78', '9m'), START);
  expect(second).toBe(first);
  expect(first).toBe(`QUEUE    POSITION  WORKLOAD  START                  AGE  REASON
default            job/a     2026-11-23T09:00:00Z   1m
default  1         job/b     ~2026-11-23T10:00:00Z  1m   Reserved

TIME                      KIND  UID                                   EVENT      BY                    REASON
2026-11-23T09:00:00.000Z  Job   00000000-0000-4000-8000-000000000001  Submitted  ada                   was added
2026-11-23T09:00:00.000Z  Job   00000000-0000-4000-8000-000000000001  Waiting    fluxqueue-controller  Reserved: by others

allocated hours of namespace science, and jobs that ended, from 2026-11-01T00:00:00Z until 2026-11-23T09:00:00Z
estimates were off by 1s (p50) and 1s (p90) in 4 jobs of all namespaces in the last 7 days
`);
});

test.each([
  ['a time before the start', short(-7190), '2026-11-23T07:00:00Z'],
  ['a time without its date', `~${short(601).slice(11)}`, '~09:10:00Z'],
  ['a time that is ten minutes later', short(601), '2026-11-23T09:10:00Z'],
  ['how long a Job ran', 'Succeeded; ran for 2 s on node-0', 'Succeeded; ran for 1 s on node-0'],
  [
    'the leader in the words of doctor',
    'ok  leader  vm-3 leads since 76 s and renewed the Lease 0 s ago',
    'ok  leader  fluxqueue-controller leads since 1 s and renewed the Lease 1 s ago',
  ],
  [
    'the leader of a slow run',
    'ok  leader  vm-3 leads since 2 min and renewed the Lease 3 s ago',
    'ok  leader  fluxqueue-controller leads since 1 s and renewed the Lease 1 s ago',
  ],
  ['an age in a table', 'NAME  AGE\na     3h', 'NAME  AGE\na     180m'],
  [
    'hours of accounting',
    'QUEUE  JOBS  CPU-HOURS\na      12    149.13',
    'QUEUE  JOBS  CPU-HOURS\na      12    100.00',
  ],
  [
    'hours of accounting in JSON',
    '[{"jobs":1,"cpuHours":3e-4,"gpuHours":208.01}]',
    '[{"jobs":1,"cpuHours":0,"gpuHours":200}]',
  ],
  [
    'a trace',
    `; UnixStartTime: ${Math.floor(START / 1000) + 2}\n3 14 2 3601 4 -1 -1 4 7200 -1 1 1 1 -1 1 -1 -1 -1`,
    '; UnixStartTime: 1795424400\n3 0 0 3600 4 -1 -1 4 7200 -1 1 1 1 -1 1 -1 -1 -1',
  ],
])('%s is rounded', (_, text, expected) => {
  expect(steady(text, START)).toBe(expected);
});

test.each([
  'science/job/a waits in queue default, position 2\nBusy: needs 1 pod with 3 cores; not free now\n',
  'NAME  REASON\na     Held\n',
  '12 of 30 nodes, 8s, node-3, AGE\n',
])('%j stays as it is', (text) => {
  expect(steady(text, START)).toBe(text);
});

test('two uids stay two', () => {
  const [a, b] = ['5b9a2c1d-3f0c-4f0e-9d6f-0a527d0f8e77', '5b9a2c1d-3f0c-4f0e-9d6f-0a527d0f8e78'];
  expect(
    steady(`${a} ${b} ${a}`, START)
      .split(' ')
      .map((uid) => uid.at(-1)),
  ).toEqual(['1', '2', '1']);
});
