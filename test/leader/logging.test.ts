/** What a term logs: its decisions at debug level, and nothing at info level while the cluster is idle. */
import pino from 'pino';
import { SimulatedController } from '../fuzz/simulated-controller';

interface Line {
  readonly level: number;
  readonly message: string;
  readonly workload?: string;
  readonly queue?: string;
  readonly jobid?: number;
}

/** Levels as pino numbers them. */
const DEBUG = 20;
const INFO = 30;

function recorded(): { readonly lines: Line[]; readonly logger: pino.Logger } {
  const lines: Line[] = [];
  const write = (line: string) => {
    lines.push(JSON.parse(line) as Line);
  };
  return { lines, logger: pino({ level: 'debug', messageKey: 'message' }, { write }) };
}

describe('the log of a term', () => {
  const { lines, logger } = recorded();
  let controller: SimulatedController;

  beforeEach(async () => {
    controller = new SimulatedController(logger);
    await controller.start();
    await controller.seconds(10);
    lines.length = 0;
  });
  afterEach(() => controller.close());

  test('has nothing at info level during 20 minutes on an idle cluster', async () => {
    await controller.seconds(20 * 60);
    expect(lines.filter(({ level }) => level >= INFO)).toEqual([]);
  });

  test('has nothing at info level while a workload runs', async () => {
    controller.submit('long', { runs: 500 });
    await controller.seconds(10);
    lines.length = 0;
    await controller.seconds(5 * 60);
    expect(controller.row('long')).toMatchObject({ phase: 'Running' });
    expect(lines.filter(({ level }) => level >= INFO)).toEqual([]);
  });

  test('has each decision about a workload and its FluxJob with queue and job id', async () => {
    controller.submit('short', { runs: 5 });
    await controller.seconds(60);
    const { jobid } = controller.row('short')!;
    const fields = { level: DEBUG, workload: 'Job/science/short', queue: 'default', jobid };
    const decisions = lines.filter(({ workload }) => workload === fields.workload);
    expect(decisions).toEqual(decisions.map(() => expect.objectContaining(fields)));
    const messages = decisions.map(({ message }) => message);
    expect(messages.filter((message) => !message.startsWith('FluxJob: '))).toEqual(
      expect.arrayContaining(['submitted', 'released', 'started', 'finished']),
    );
    expect(messages).toContain('FluxJob: created');
  });
});
