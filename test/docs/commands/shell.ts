/** A shell in which the lines of the documents work: kubectl with its plugin, and `fluxqueue` as in the controller's pod. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { runLine } from '../../shell-line';

const ROOT = join(__dirname, '..', '..', '..');

export interface Programs {
  /** Path of kubectl. */
  readonly kubectl: string;
  /** Path of the bundled program. */
  readonly fluxqueue: string;
  /** What `fluxqueue` finds in DATABASE_URL; the plugin of kubectl has no database. */
  readonly databaseUrl: string;
}

export interface RunOptions {
  /** Path of the kubeconfig. */
  readonly kubeconfig: string;
  /** Namespace of commands that name none. */
  readonly namespace: string;
  /** Of the environment. @default - none beside those of this process */
  readonly variables?: NodeJS.ProcessEnv;
}

export interface Ended {
  /** Both streams, as a terminal shows them. */
  readonly output: string;
  readonly exitCode: number;
}

/** Milliseconds after which a line is killed. */
const LONGEST_MS = 120_000;

export class Shell {
  /** The folder in which lines run; it has the examples of the repository. */
  readonly folder = mkdtempSync(join(tmpdir(), 'fluxqueue-shell-'));
  private readonly programs = join(this.folder, '.bin');

  constructor({ kubectl, fluxqueue, databaseUrl }: Programs) {
    mkdirSync(this.programs);
    symlinkSync(kubectl, join(this.programs, 'kubectl'));
    symlinkSync(join(ROOT, 'examples'), join(this.folder, 'examples'));
    const program = `exec '${process.execPath}' '${fluxqueue}' "$@"`;
    this.write('kubectl-fluxqueue', program);
    this.write('fluxqueue', `DATABASE_URL='${databaseUrl}' ${program}`);
  }

  /**
   * Runs one line to its end.
   * @param interruptAt Ctrl-C comes when what it prints matches. @default - it ends by itself
   */
  async run(line: string, options: RunOptions, interruptAt?: RegExp): Promise<Ended> {
    const { folder } = this;
    const given = { folder, env: this.environment(options), longestMs: LONGEST_MS, until: interruptAt };
    const { output, code, signal, interrupted } = await runLine(line, given);
    if (interrupted) return { output: `${output}^C\n`, exitCode: 0 };
    if (code === null) throw new Error(`"${line}" was ended by ${signal}:\n${output}`);
    return { output, exitCode: code };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  private environment({ kubeconfig, namespace, variables }: RunOptions): NodeJS.ProcessEnv {
    const KUBECONFIG = this.inNamespace(kubeconfig, namespace);
    const PATH = `${this.programs}:${process.env.PATH}`;
    return { ...process.env, HOME: this.folder, ...variables, PATH, KUBECONFIG };
  }

  private write(name: string, program: string): void {
    writeFileSync(join(this.programs, name), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
  }

  private inNamespace(kubeconfig: string, namespace: string): string {
    const config = JSON.parse(readFileSync(kubeconfig, 'utf8')) as {
      contexts: { context: { namespace: string } }[];
    };
    for (const { context } of config.contexts) context.namespace = namespace;
    const file = join(this.folder, `.${namespace}-${basename(kubeconfig)}`);
    writeFileSync(file, JSON.stringify(config));
    return file;
  }
}
