/**
 * The first pass of a term runs before everything was reconciled, because that takes seconds in a large cluster. What
 * changed while nobody led counts all the same: test/leader/recovery.test.ts has the rows, this file the waiting ones.
 */
import pino from 'pino';
import { SimulatedController } from '../fuzz/simulated-controller';

describe('the first pass of a term', () => {
  const messages: string[] = [];
  const write = (line: string) => {
    messages.push((JSON.parse(line) as { message: string }).message);
  };
  let controller: SimulatedController;

  beforeEach(async () => {
    controller = new SimulatedController(pino({ level: 'debug', messageKey: 'message' }, { write }));
    await controller.start();
    controller.submit('first', { runs: 10 });
    controller.submit('second', { runs: 600 });
    await controller.seconds(5);
    controller.submit('waiting');
    await controller.seconds(2);
    expect(controller.row('waiting')).toMatchObject({ phase: 'Waiting' });
    await controller.stop();
    messages.length = 0;
  });
  afterEach(() => controller.close());

  /** The first Job ends, and its node is free. */
  async function lead(): Promise<void> {
    await controller.seconds(20);
    await controller.start();
    await controller.seconds(1);
    expect(controller.row('first')).toMatchObject({ phase: 'Finished' });
  }

  test('comes before the workloads that wait unchanged are reconciled', async () => {
    controller.submit('wide', { pods: 3 });
    await lead();
    const pass = messages.indexOf('pass done');
    const reconciled = messages.indexOf('waiting, unchanged');
    expect(pass).toBeGreaterThan(-1);
    expect(reconciled).toBeGreaterThan(pass);
    expect(controller.row('waiting')).toMatchObject({ phase: expect.stringMatching('Ready|Running') });
  });

  test('knows the workloads that were created while nobody led', async () => {
    controller.submit('urgent');
    controller.label('urgent', { 'fluxqueue/priority': '100' });
    await lead();
    expect(controller.row('urgent')).toMatchObject({ phase: expect.stringMatching('Ready|Running') });
    expect(controller.row('waiting')).toMatchObject({ phase: 'Waiting' });
    expect(controller.queue.events.filter(({ event }) => event === 'Requeued')).toEqual([]);
  });

  test('commits no grant for what a workload asked for before it was edited', async () => {
    controller.label('waiting', { 'fluxqueue/hold': 'true' });
    await lead();
    expect(controller.row('waiting')).toMatchObject({ phase: 'Waiting', reason: 'Held' });
    expect(await controller.repairs()).toMatchObject({ 'workload-edited': 1 });
  });

  test('does not keep the other areas waiting while Fluxion gives no answer', async () => {
    const { init } = controller.fluxion;
    let answer: () => void = () => undefined;
    controller.fluxion.init = async (request) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return init.call(controller.fluxion, request);
    };
    await controller.start();
    controller.submit('new');
    await controller.seconds(1);
    expect(controller.row('new')).toMatchObject({ phase: 'Waiting', reason: 'Submitted' });
    expect(messages).toContain('waiting, unchanged');
    expect(messages).not.toContain('pass done');
    answer();
    await controller.seconds(1);
    expect(messages).toContain('pass done');
  });

  test('an edit that cannot be recorded does not keep the workload waiting', async () => {
    controller.label('waiting', { 'fluxqueue/priority': '100' });
    // The reconciler finds a change, and the database finds none.
    controller.queue.update = async () => [];
    await lead();
    expect(await controller.repairs()).toMatchObject({ 'workload-edited': 1 });
    expect(controller.row('waiting')).toMatchObject({ phase: expect.stringMatching('Ready|Running') });
  });
});
