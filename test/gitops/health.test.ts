/** The verdicts of the engines' own code on every kind and phase, without a cluster. */
import { argoCdHealth, fluxCdHealth } from '../../constructs/gitops';
import { HEALTH_ROWS, healthTable, writtenHealthTable } from './health-table';
import { describeEngines } from './suite';

test('docs/gitops.md has the table; npm run generate:health writes it', () => {
  expect(writtenHealthTable()).toBe(healthTable());
});

test('every kind has a row for each kind of check', () => {
  const kinds = new Set(HEALTH_ROWS.map(({ kind }) => kind));
  expect(new Set(fluxCdHealth().map(({ kind }) => kind))).toEqual(kinds);
  expect(new Set(Object.keys(argoCdHealth()).map((key) => key.split('_')[1]))).toEqual(kinds);
});

describeEngines('the health of', (engines) => {
  const objects = HEALTH_ROWS.map(({ object }) => object);
  const named = (verdicts: readonly ({ readonly status: string } | null)[]) =>
    HEALTH_ROWS.map(({ kind, state }, index) => `${kind} ${state}: ${verdicts[index]?.status ?? 'none'}`);
  const expected = (pick: (row: (typeof HEALTH_ROWS)[number]) => string) =>
    HEALTH_ROWS.map((row) => `${row.kind} ${row.state}: ${pick(row)}`);

  test('every object is what the table says for Flux CD', async () => {
    const { flux } = engines();
    expect(named(await flux.judge('kstatus', objects))).toEqual(expected(({ flux }) => flux[0]));
    expect(named(await flux.judge('cel', objects, { cel: fluxCdHealth() }))).toEqual(
      expected(({ flux }) => flux[1]),
    );
  });

  test('every object is what the table says for Argo CD', async () => {
    const { argo } = engines();
    expect(named(await argo.judge('health', objects))).toEqual(expected(({ argo }) => argo[0]));
    expect(named(await argo.judge('health', objects, { lua: argoCdHealth() }))).toEqual(
      expected(({ argo }) => argo[1]),
    );
  });

  test('an object without a status is in progress', async () => {
    const { flux, argo } = engines();
    const bare = objects.map(({ status: _, ...rest }) => rest as (typeof objects)[number]);
    const unobserved = bare.map((object) => ({ ...object, status: {} }));
    const said = await argo.judge('health', bare, { lua: argoCdHealth() });
    const jobs = objects.filter(({ kind }) => kind === 'Job').length;
    expect(new Set(said.slice(jobs).map((verdict) => verdict?.status))).toEqual(new Set(['Progressing']));
    const checked = await flux.judge('cel', unobserved.slice(jobs), { cel: fluxCdHealth() });
    expect(new Set(checked.map((verdict) => verdict?.status))).toEqual(new Set(['InProgress']));
  });

  // test/gitops/manifests.test.ts: so each claim of the stack has a pod from the start.
  test('a claim is ready to none of them before it has a volume', async () => {
    const { flux, argo } = engines();
    const claims = ['Pending', 'Bound'].map((phase) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'fluxqueue-backup', namespace: 'fluxqueue-system' },
      status: { phase },
    }));
    const statuses = (verdicts: readonly ({ readonly status: string } | null)[]) =>
      verdicts.map((verdict) => verdict?.status);
    expect(statuses(await flux.judge('kstatus', claims))).toEqual(['InProgress', 'Current']);
    expect(statuses(await argo.judge('health', claims))).toEqual(['Progressing', 'Healthy']);
  });
});
