/** An apiserver with the read API, of which a test says what it answers, and commands that ask it. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { addCommands } from '../../runtime/cli/commands';
import { messageOf } from '../../runtime/errors';

const DISCOVERY = '/apis/queue.converged-computing.org';
export const ROOT = '/apis/queue.converged-computing.org/v1alpha1';

export interface Answer {
  /** @default 200 */
  readonly status?: number;
  readonly body: object | string;
}

/** Of an apiserver that refuses something. */
export function refusal(status: number, reason: string, message: string): Answer {
  return {
    status,
    body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, reason, message },
  };
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

interface Ended {
  readonly output: string;
  readonly errors: string;
  /** The sentence that the program ends with. @default - it ends well */
  readonly refused?: string;
}

export class PlayedReadApi {
  readonly folder = mkdtempSync(join(tmpdir(), 'fluxqueue-read-'));
  readonly asked: Asked[] = [];
  /** What is answered to everything but discovery. */
  answer: (asked: Asked) => Answer = () => ({ body: {} });
  /** What is answered to a question for the group. */
  discovery: Answer = { body: { kind: 'APIGroup' } };
  private readonly server: Server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      const url = new URL(request.url!, 'http://localhost');
      const asked = {
        method: request.method!,
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        body: text === '' ? undefined : (JSON.parse(text) as unknown),
      };
      const isDiscovery = asked.path === DISCOVERY;
      if (!isDiscovery) this.asked.push(asked);
      const { status = 200, body } = isDiscovery ? this.discovery : this.answer(asked);
      response.writeHead(status, {
        'content-type': typeof body === 'string' ? 'text/plain' : 'application/json',
      });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });

  async start(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    const { port } = this.server.address() as AddressInfo;
    const config = {
      clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ name: 'u', user: { token: 't' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'science' } }],
      'current-context': 'x',
    };
    writeFileSync(join(this.folder, 'config'), JSON.stringify(config));
    process.env.KUBECONFIG = join(this.folder, 'config');
  }

  stop(): void {
    delete process.env.KUBECONFIG;
    this.server.closeAllConnections();
    this.server.close();
    rmSync(this.folder, { recursive: true });
  }

  file(text: string): string {
    const file = join(this.folder, 'objects.yaml');
    writeFileSync(file, text);
    return file;
  }

  /** Runs one command line as a user would, in a pipe. */
  async run(...words: readonly string[]): Promise<Ended> {
    const output = captured(process.stdout);
    const errors = captured(process.stderr);
    const program = new Command('fluxqueue');
    addCommands(program);
    for (const command of [program, ...program.commands])
      command.exitOverride().configureOutput({ writeErr: () => undefined });
    try {
      await program.parseAsync(words, { from: 'user' });
      return { output: output.text(), errors: errors.text() };
    } catch (error) {
      return { output: output.text(), errors: errors.text(), refused: messageOf(error) };
    } finally {
      output.restore();
      errors.restore();
    }
  }
}

function captured(stream: NodeJS.WriteStream) {
  let text = '';
  const spy = jest.spyOn(stream, 'write').mockImplementation((part) => {
    text += String(part);
    return true;
  });
  return { text: () => text, restore: () => spy.mockRestore() };
}

/** A played apiserver for the tests of a file. */
export function playedReadApi(): () => PlayedReadApi {
  let api: PlayedReadApi;
  beforeEach(async () => {
    api = new PlayedReadApi();
    await api.start();
  });
  afterEach(() => api.stop());
  return () => api;
}
