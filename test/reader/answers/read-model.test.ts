/** What is open while somebody asks, and what is not while nobody does. */
import { makerKinds, WORKLOAD_KINDS } from '../../../constructs/api/workload-kinds';
import { FluxqError } from '../../../runtime/errors';
import { kindPath } from '../../../runtime/kubernetes/kind-fields';
import type { Plan } from '../../../runtime/reader/kinds';
import { SimulatedReader } from './simulated-reader';

const KINDS = [...WORKLOAD_KINDS, ...makerKinds()].map((kind) => kindPath(kind)()).sort();

describe('the read model', () => {
  let world: SimulatedReader;
  beforeEach(async () => {
    world = new SimulatedReader();
    await world.controller.start();
    world.opened.length = 0;
  });
  afterEach(() => world.close());

  const closed = () => world.opened.filter((what) => what.startsWith('closed '));
  const paths = () => world.opened.filter((what) => what.startsWith('/')).sort();
  const minutes = (count: number) => world.controller.seconds(60 * count);

  test('opens nothing before the first question, and then only what that needs', async () => {
    await minutes(30);
    expect(world.opened).toEqual([]);
    await world.ask('nodereports');
    expect(world.opened[0]).toBe('database');
    expect(paths()).toEqual(['/api/v1/nodes', '/api/v1/pods']);
    await world.ask('plans');
    expect(paths()).toEqual([
      '/api/v1/nodes',
      '/api/v1/pods',
      '/apis/batch/v1/jobs',
      '/apis/flux-framework.org/v1alpha1/fluxsetups',
      ...KINDS,
    ]);
  });

  test('closes the watches after ten minutes without a question, and opens them again', async () => {
    await world.ask('plans');
    await minutes(9);
    await world.ask('plans');
    await minutes(9);
    expect(paths()).toHaveLength(4 + KINDS.length);
    expect(closed()).toEqual([]);
    await minutes(2);
    expect(closed()).toHaveLength(4 + KINDS.length);
    world.opened.length = 0;
    await minutes(60);
    expect(world.opened).toEqual([]);
    await world.ask('plans');
    expect(world.opened[0]).toBe('database');
    expect(paths()).toHaveLength(4 + KINDS.length);
  });

  test('is opened once for questions that come together, and who leaves does not end the others', async () => {
    const leaving = new AbortController();
    const first = world.begin<Plan>('plans', { signal: leaving.signal });
    const others = [world.begin<Plan>('plans'), world.begin<Plan>('plans', { namespace: 'science' })];
    leaving.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    const plans = await world.controller.clock.until(Promise.all(others));
    expect(plans.map(({ kind }) => kind)).toEqual(['Plan', 'Plan']);
    expect(paths()).toHaveLength(4 + KINDS.length);
  });

  test('sees what changed since the last question', async () => {
    expect((await world.ask<Plan>('plans')).jobs).toEqual([]);
    world.controller.submit('new');
    await world.controller.seconds(5);
    expect((await world.ask<Plan>('plans')).jobs).toMatchObject([{ name: 'new', state: 'Running' }]);
    await world.controller.seconds(60);
    expect((await world.ask<Plan>('plans')).jobs).toEqual([]);
  });

  test('asks again after a database that could not be opened', async () => {
    world.databaseError = new FluxqError('FLUXQ_DATABASE_DOWN', 'the database does not answer', {
      retryable: true,
    });
    await expect(world.ask('plans')).rejects.toMatchObject({ code: 'FLUXQ_DATABASE_DOWN', retryable: true });
    world.databaseError = undefined;
    expect(await world.ask('plans')).toMatchObject({ kind: 'Plan' });
  });

  test('says that the apiserver has not answered yet, and reads on for the next question', async () => {
    world.apiserverIsDown = true;
    const refused = await world.ask('plans').catch((error: FluxqError) => error);
    expect(refused).toMatchObject({ code: 'FLUXQ_READER_NOT_READY', retryable: true });
    expect((refused as FluxqError).message).toContain('the apiserver has not listed the objects');
    world.apiserverIsDown = false;
    await world.controller.seconds(10);
    expect(await world.ask('plans')).toMatchObject({ kind: 'Plan' });
  });

  test('answers nothing more once it is stopped', async () => {
    await world.ask('plans');
    await world.stop();
    expect(closed()).toHaveLength(4 + KINDS.length);
    await expect(world.ask('plans')).rejects.toMatchObject({ retryable: true });
  });
});
