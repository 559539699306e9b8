/** The running programs of a control plane. */
import { FluxqError } from '../../runtime/errors';
import type { Assets, Program } from './assets';
import type { OwnedProcess, ProcessSet } from './processes';

export class ComponentSet {
  private readonly running = new Map<Program, OwnedProcess>();

  constructor(
    private readonly processes: Pick<ProcessSet, 'start'>,
    private readonly assets: Assets,
    /** Command prefix of every program, e.g. nsenter with its options. */
    private readonly enter: readonly string[] = [],
  ) {}

  async start(program: Program, args: readonly string[]): Promise<void> {
    const [command = '', ...rest] = [...this.enter, this.assets[program], ...args];
    this.running.set(program, await this.processes.start(program, command, rest));
  }

  /** Those that were started, in the order of their first start. */
  get names(): readonly Program[] {
    return [...this.running.keys()];
  }

  /** @throws FLUXQ_TEST_COMPONENT if the program was never started. */
  get(program: Program): OwnedProcess {
    const component = this.running.get(program);
    if (component === undefined) {
      throw new FluxqError('FLUXQ_TEST_COMPONENT', 'the program is not running in this cluster', {
        value: program,
        remedy:
          'a suite that stops programs has a cluster of its own: describeOwnCluster or describeOwnStack',
      });
    }
    return component;
  }

  /** Waits for `work`, but fails at once with the end of the log when a program exits. */
  async whileRunning<T>(work: Promise<T>): Promise<T> {
    const needed = [...this.running.values()].filter(({ killed }) => !killed);
    const ended = needed.map(async (component): Promise<never> => {
      const how = await component.exited;
      throw new FluxqError('FLUXQ_TEST_COMPONENT', `ended with ${how}:\n${component.logTail()}\n`, {
        field: component.name,
        remedy: 'read the cause in the log lines above',
      });
    });
    return Promise.race([work, ...ended]);
  }
}
