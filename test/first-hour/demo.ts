/** `npm start -- --keep`, with what it prints for its user to type next, and a person in its cluster who may only edit. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../cluster/wait';
import { runLine } from '../shell-line';

const ROOT = join(__dirname, '../..');
const START = ['start', '--', '--keep', '--nodes', '20', '--jobs', '8'] as const;
/** Milliseconds: the demo plays to its end first. */
const PLAYS_MS = 300_000;

/** Milliseconds after which a line is killed. */
export const LONGEST_MS = 180_000;

interface Config {
  contexts: { context: { namespace?: string } }[];
  users: { user: Record<string, string> }[];
}

export class Demo {
  output = '';
  private readonly child: ChildProcess;

  private constructor() {
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    this.child = spawn('npm', START, { cwd: ROOT, detached: true, stdio: [...stdio] });
    for (const stream of [this.child.stdout!, this.child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.output += text));
  }

  /** Resolves when it has printed what to try next. */
  static async start(): Promise<Demo> {
    const demo = new Demo();
    const isThere = () => {
      if (demo.child.exitCode !== null) throw new Error(`npm ${START.join(' ')} ended:\n${demo.output}`);
      return demo.output.includes('Your own jobs');
    };
    await waitFor('npm start to print what to try next', isThere, { timeoutMs: PLAYS_MS, everyMs: 500 });
    return demo;
  }

  /** The line that every terminal begins with. */
  get use(): string {
    return this.printed()[0]!;
  }

  /** The other lines that it prints. */
  get commands(): readonly string[] {
    const own = this.output.match(/^Your own jobs: (.*) \(namespace/m)![1]!;
    return [...this.printed().slice(1), own];
  }

  get kubeconfig(): string {
    return this.use.match(/KUBECONFIG=(\S+)/)![1]!;
  }

  /** The folder of kubectl and its plugin. */
  get programs(): string {
    return this.use.match(/PATH=([^:\s]+)/)![1]!;
  }

  private printed(): readonly string[] {
    return [...this.output.matchAll(/^ {2}((?:export|kubectl|node) .*)$/gm)].map(([, line = '']) => line);
  }

  /** A kubeconfig of a ServiceAccount with one of the roles for people in the namespace, and nothing else. */
  async person(name: string, role: 'edit' | 'admin', namespace: string, folder: string): Promise<string> {
    const { output, code } = await runLine(
      `${this.use}; kubectl -n ${namespace} create serviceaccount ${name} && ` +
        `kubectl -n ${namespace} create rolebinding ${name} --clusterrole=${role} --serviceaccount=${namespace}:${name} && ` +
        `kubectl -n ${namespace} create token ${name} --duration=4h`,
      { folder, env: process.env, longestMs: LONGEST_MS },
    );
    if (code !== 0) throw new Error(output);
    const config = JSON.parse(readFileSync(this.kubeconfig, 'utf8')) as Config;
    config.users[0]!.user = { token: output.trim().split('\n').at(-1)! };
    config.contexts[0]!.context.namespace = namespace;
    const file = join(folder, `${name}.kubeconfig`);
    writeFileSync(file, JSON.stringify(config));
    return file;
  }

  /** As Ctrl-C. */
  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const ended = once(this.child, 'close');
    process.kill(-this.child.pid!, 'SIGINT');
    await ended;
  }
}
