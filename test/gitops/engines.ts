/** The engines of Flux CD and Argo CD as processes, which get one JSON command per line (test/gitops/engines). */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { KubeObject } from '../cluster/api';
import { findPrograms, type GoModule, goCommand, programsBuilt } from '../cluster/assets';

export type EngineName = 'flux' | 'argo';

const ENGINES: GoModule<EngineName> = {
  title: 'the engines of Flux CD and Argo CD',
  folder: join(__dirname, 'engines'),
  binary: 'gitops',
  programs: ['flux', 'argo'],
  cost: { build: '10 minutes', download: '200 MB' },
};

interface Verdict {
  readonly status: string;
  readonly message: string;
}

export interface EngineCommand {
  readonly app?: string;
  readonly op: 'apply' | 'prune' | 'wait' | 'kstatus' | 'cel' | 'sync' | 'diff' | 'health';
  readonly objects: readonly object[];
  readonly previous?: readonly object[];
  readonly force?: boolean;
  readonly prune?: boolean;
  readonly serverSide?: boolean;
  readonly lua?: Readonly<Record<string, string>>;
  readonly cel?: readonly object[];
  readonly timeoutSeconds?: number;
}

type Answer = { readonly result?: unknown; readonly error?: string };

/** The engines are there already: tests do not build for ten minutes. `npm run gitops` builds them. */
export const enginesBuilt = (): boolean => programsBuilt(ENGINES);
export const enginesPossible = (): boolean => enginesBuilt() || goCommand() !== undefined;

export class Engine {
  private readonly answers: AsyncIterator<string>;
  private last: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly name: EngineName,
    private readonly child: ChildProcessWithoutNullStreams,
  ) {
    this.answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    child.stderr.pipe(process.stderr);
  }

  /** @param kubeconfig without it the engine only judges objects that it is given */
  static async start(
    name: EngineName,
    kubeconfig?: string,
    progress: (line: string) => void = () => undefined,
  ): Promise<Engine> {
    const programs = await findPrograms(ENGINES, progress);
    return new Engine(name, spawn(programs[name], kubeconfig === undefined ? [] : [kubeconfig]));
  }

  /** @throws the error of the engine */
  async run<T = Readonly<Record<string, string>>>(command: EngineCommand): Promise<T> {
    const { result, error } = await this.ask(command);
    if (error !== undefined) throw new Error(`${this.name} ${command.op}: ${error}`);
    return result as T;
  }

  /** Commands are answered one after the other. */
  private ask(command: EngineCommand): Promise<Answer> {
    const answer = this.last.then(async () => {
      this.child.stdin.write(`${JSON.stringify(command)}\n`);
      const { value, done } = await this.answers.next();
      if (done === true) throw new Error(`${this.name} ended during ${command.op}`);
      return JSON.parse(value) as Answer;
    });
    this.last = answer.catch(() => undefined);
    return answer;
  }

  /** What the engine says about each object; null for no opinion. */
  judge(op: 'kstatus' | 'cel' | 'health', objects: readonly KubeObject[], more: Partial<EngineCommand> = {}) {
    return this.run<readonly (Verdict | null)[]>({ op, objects, ...more });
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('close', resolve));
    this.child.stdin.end();
    await ended;
  }
}
