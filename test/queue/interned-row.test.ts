import { InternPool } from '../../runtime/intern';
import { jobspecOf } from '../../runtime/jobspec/jobspec';
import { internedRow } from '../../runtime/queue/interned-row';
import type { Phase } from '../../runtime/queue/workload';
import { rowIn } from './rows';

const parsed = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const pod = { containers: [{ resources: { requests: { cpu: '2', memory: '1Gi' } } }] };
const jobspecFor = (walltime: number) => parsed(jobspecOf({ pod, pods: 1, walltime }));

test.each<Phase>(['Waiting', 'Ready', 'Running', 'Finished'])(
  'an interned row that is %s equals the row',
  (phase) => {
    const row = rowIn(phase, { jobspec: jobspecFor(60), avoid: { 'node-1': 5 } });
    expect(internedRow(parsed(row), new InternPool())).toStrictEqual(row);
  },
);

test('rows that ask for the same share their jobspec', () => {
  const pool = new InternPool();
  const [a, b] = ['a', 'b'].map((uid) =>
    internedRow(rowIn('Waiting', { uid, jobspec: jobspecFor(60) }), pool),
  );
  expect(a!.jobspec).toBe(b!.jobspec);
  expect(a!.after).toBe(b!.after);
});

test('rows that differ in their walltime share the rest of their jobspec', () => {
  const pool = new InternPool();
  const [a, b] = [60, 90].map(
    (walltime) => internedRow(rowIn('Waiting', { jobspec: jobspecFor(walltime) }), pool).jobspec,
  );
  expect([a!, b!].map(({ attributes }) => attributes.system.duration)).toEqual([60, 90]);
  expect(a!.resources).toBe(b!.resources);
  expect(a!.attributes.user).toBe(b!.attributes.user);
});
