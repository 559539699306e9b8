/** The server of the example, with a fake Flux; test/boot/web-service.test.ts has a real one. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../cluster/ports';
import { waitFor } from '../cluster/wait';
import { example } from './miniclusters';

/** Records what is submitted; job 1 has ended, and others do not exist. */
const FLUX = `
import json, os
class JobspecV1:
    @staticmethod
    def from_command(command, num_nodes, num_tasks):
        if not isinstance(command, list): raise TypeError("command must be a list")
        return [command, num_nodes, num_tasks]
class JobID(int):
    def __new__(cls, text): return int.__new__(cls, str(text).lstrip("f"))
    @property
    def f58plain(self): return "f%d" % self
def submit(handle, job):
    with open(os.environ["RECORD"], "a") as file: print(json.dumps(job), file=file)
    return 1
def get_job(handle, id):
    return {"state": "INACTIVE", "result": "COMPLETED", "returncode": 0} if id == 1 else None
`;
const hasPython = spawnSync('python3', ['--version']).status === 0;

(hasPython ? describe : describe.skip)('the web service', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-web-'));
  const path = (name: string) => join(folder, name);
  let server: ChildProcess;
  let base: string;

  beforeAll(async () => {
    const [port] = await freePorts(1);
    base = `http://127.0.0.1:${port}`;
    const config = example('web-service.ts').objects.find(
      ({ metadata }) => metadata.name === 'web-entrypoint',
    );
    const script = (config!.data as Record<string, string>)['runner_script.sh']!;
    const program = /<<'EOF'\n(.*)\nEOF\n/s.exec(script)![1]!;
    mkdirSync(path('flux'));
    mkdirSync(path('bin'));
    writeFileSync(path('flux/__init__.py'), 'class Flux: pass\n');
    writeFileSync(path('flux/job.py'), FLUX);
    writeFileSync(path('bin/flux'), '#!/bin/sh\necho "$*"\n', { mode: 0o755 });
    writeFileSync(path('token'), 'secret\n');
    const text = program.replace('/etc/web/token', path('token')).replace('8080', String(port));
    const PATH = `${path('bin')}:${process.env.PATH}`;
    const env = { ...process.env, PATH, PYTHONPATH: folder, RECORD: path('record') };
    server = spawn('python3', ['-c', text], { env, stdio: 'ignore' });
    await waitFor('the server', async () => (await fetch(base)).status === 401);
  });
  afterAll(() => {
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  async function call(url: string, body?: unknown, token = 'secret'): Promise<unknown[]> {
    const method = body === undefined ? 'GET' : 'POST';
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(base + url, {
      method,
      headers,
      ...(body === undefined ? {} : { body: text }),
    });
    return [response.status, await response.json()];
  }

  test('submits jobs and shows their state and output', async () => {
    const job = { command: ['hostname'], nodes: 2 };
    expect(await call('/jobs', job)).toEqual([201, { id: 'f1' }]);
    const shown = { state: 'INACTIVE', result: 'COMPLETED', returncode: 0, output: 'job attach f1\n' };
    expect(await call('/jobs/f1')).toEqual([200, shown]);
  });

  test.each([
    ['a wrong token', 401, '/jobs', { command: ['true'] }, 'wrong'],
    ['text', 400, '/jobs', 'run it', 'secret'],
    ['a command that is no list', 400, '/jobs', { command: 'true' }, 'secret'],
    ['a job without a command', 400, '/jobs', {}, 'secret'],
    ['too much text', 413, '/jobs', 'x'.repeat(65_537), 'secret'],
    ['another path', 404, '/', {}, 'secret'],
    ['a job that does not exist', 404, '/jobs/f2', undefined, 'secret'],
  ])('refuses %s with %s', async (_, status, url, body, token) => {
    expect((await call(url, body, token))[0]).toBe(status);
  });
});
