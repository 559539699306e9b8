/** What lead brokers report, and what the controller takes from whom. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ownAddresses } from '../../runtime/miniclusters/report-server';
import { waitFor } from '../cluster/wait';
import { cluster } from './objects';
import { NUMBERS, Reporting, type Sent, send } from './reporting';

const HELLO = cluster();
let reporting: Reporting;
beforeEach(() => {
  reporting = new Reporting();
});
afterEach(() => reporting.receiver.stop());

test('takes the numbers of the lead broker, and forgets them after a minute', async () => {
  const contact = await reporting.contact();
  expect(await send(contact)).toBe(204);
  expect([reporting.reports.of(HELLO), reporting.enqueued]).toEqual([NUMBERS, ['science/hello']]);
  reporting.now += 59;
  expect(reporting.reports.of(HELLO)).toEqual(NUMBERS);
  reporting.now += 1;
  expect(reporting.reports.of(HELLO)).toBeUndefined();
});

test('takes the numbers of the first pod of a StatefulSet', async () => {
  expect(await send(await reporting.contact(), { token: 'first-of-the-set' })).toBe(204);
});

test.each<[string, number, Sent]>([
  ['a token that the apiserver does not know', 401, { token: 'forged' }],
  ['the token of a worker', 403, { token: 'worker' }],
  ['the token of a worker of a StatefulSet', 403, { token: 'second-of-the-set' }],
  ['the token of a pod that was replaced', 403, { token: 'old' }],
  ['another MiniCluster', 403, { path: '/v1/namespaces/science/miniclusters/other' }],
  ['a MiniCluster of another namespace', 403, { path: '/v1/namespaces/arts/miniclusters/hello' }],
  ['no token', 401, { token: '' }],
  ['another path', 404, { path: '/metrics' }],
  ['another method', 405, { method: 'GET' }],
  ['text', 400, { body: 'many' }],
  ['a negative number', 400, { body: JSON.stringify({ ...NUMBERS, jobs: { ...NUMBERS.jobs, done: -1 } }) }],
  ['another field', 400, { body: JSON.stringify({ ...NUMBERS, names: ['secret'] }) }],
  ['more than a kibibyte', 413, { body: `${JSON.stringify(NUMBERS)}${' '.repeat(1024)}` }],
])('refuses %s with %s', async (_, status, sent) => {
  expect(await send(await reporting.contact(), sent)).toBe(status);
  expect([reporting.reports.of(HELLO), reporting.enqueued]).toEqual([undefined, []]);
});

test('asks the apiserver once a minute about a token, and again at once if it did not answer', async () => {
  const contact = await reporting.contact();
  await send(contact);
  await send(contact);
  expect([reporting.reviews, reporting.enqueued.length]).toEqual([1, 1]);
  reporting.now += 60;
  await send(contact);
  expect([reporting.reviews, reporting.enqueued.length]).toEqual([2, 2]);
  expect([await send(contact, { token: 'broken' }), await send(contact, { token: 'broken' })]).toEqual([
    503, 503,
  ]);
  expect([reporting.reviews, reporting.warnings.length]).toEqual([4, 2]);
});

test('closes the sixth connection of one address in a second before it costs a handshake', async () => {
  const contact = await reporting.contact();
  for (let count = 0; count < 5; count++) expect(await send(contact)).toBe(204);
  await expect(send(contact)).rejects.toThrow();
  reporting.now += 1;
  expect(await send(contact)).toBe(204);
});

test('has no contact while another program has its port, and tries again', async () => {
  const { addresses } = await reporting.contact();
  const second = new Reporting(Number(addresses[0]!.split(':')[1]));
  expect([await second.receiver.contactOf('science', 'hello'), second.warnings.length]).toEqual([
    undefined,
    1,
  ]);
  await reporting.receiver.stop();
  expect((await second.contact()).addresses).toEqual(addresses);
  await second.receiver.stop();
  expect(await second.receiver.contactOf('science', 'hello')).toBeUndefined();
});

test('replaces its certificate before it expires', async () => {
  const { ca } = await reporting.contact();
  reporting.now += 300 * 24 * 3600;
  const renewed = await reporting.contact();
  expect(renewed.ca).not.toBe(ca);
});

test('keeps the numbers of an earlier leader for the minute in which the lead broker finds this one', () => {
  const before = cluster({}, { flux: NUMBERS });
  expect(reporting.reports.of(before)).toEqual(NUMBERS);
  reporting.now += 60;
  expect(reporting.reports.of(before)).toBeUndefined();
});

test('pods reach it at every address of its own that is not local to its node', () => {
  const entry = (address: string, internal = false) => ({ address, internal }) as never;
  expect(
    ownAddresses({
      lo: [entry('127.0.0.1', true)],
      eth0: [entry('10.0.0.7'), entry('fe80::1'), entry('fd00::7')],
    }),
  ).toEqual(['10.0.0.7', 'fd00::7']);
});

/** Modules in place of those of Flux, which count the jobs of the file `jobs`. */
const FLUX = {
  'flux/__init__.py': `
import os
class Flux:
    def __init__(self):
        if os.path.exists(os.environ["JOBS"] + ".ended"): raise OSError("no broker")
        with open(os.environ["JOBS"] + ".handles", "a") as file: file.write("x")
`,
  'flux/job/__init__.py': '',
  'flux/job/stats.py': `
import os
class JobStats:
    def __init__(self, handle): pass
    def update_sync(self):
        with open(os.environ["JOBS"]) as file: self.pending = int(file.read())
        self.running, self.inactive, self.failed = 2, 10, 1
        return self
`,
  'flux/resource/__init__.py': '',
  'flux/resource/list.py': `
class Set:
    def __init__(self, *counts): self.nnodes, self.ncores, self.ngpus = counts
class List:
    def get(self): return {"free": Set(1, 2, 0), "allocated": Set(2, 6, 0), "down": Set(1, 4, 0)}
def resource_list(handle): return List()
`,
};
const hasPython = spawnSync('python3', ['-c', 'import ssl']).status === 0;

(hasPython ? describe : describe.skip)('report.py', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-report-'));
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  let child: ChildProcess;
  let log = '';
  beforeEach(() => {
    log = '';
    for (const [name, text] of Object.entries({ ...FLUX, jobs: '3', token: 'lead\n' })) write(name, text);
  });
  afterEach(() => child.kill('SIGKILL'));
  afterAll(() => rmSync(folder, { recursive: true }));

  function start(): void {
    const script = join(__dirname, '../../constructs/minicluster/shell/report.py');
    const args = [script, join(folder, 'contact.json'), join(folder, 'token')];
    const env = { ...process.env, PYTHONPATH: folder, JOBS: join(folder, 'jobs') };
    child = spawn('python3', args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr!.on('data', (chunk: Buffer) => {
      log += chunk;
    });
  }

  /** The time of the controller, which counts connections by the second, goes on with the probes. */
  const eventually = (what: string, isSo: () => boolean) =>
    waitFor(what, () => {
      reporting.now += 0.05;
      return isSo();
    });

  test('reports the numbers at once and when they change, at the first address that answers', async () => {
    const contact = await reporting.contact();
    write('contact.json', JSON.stringify({ ...contact, addresses: ['127.0.0.1:9', ...contact.addresses] }));
    start();
    await eventually('the first report', () => reporting.enqueued.length === 1);
    expect(reporting.reports.of(HELLO)).toEqual(NUMBERS);
    write('jobs', '4');
    await eventually('the second report', () => reporting.reports.of(HELLO)?.jobs.pending === 4);
    expect([reporting.enqueued.length, log]).toEqual([2, '']);
  });

  test('gives its token to nobody whose certificate the controller did not sign, and says what is wrong once', async () => {
    const other = new Reporting();
    const { ca } = await other.contact();
    await other.receiver.stop();
    const contact = await reporting.contact();
    write('contact.json', JSON.stringify({ ...contact, ca }));
    start();
    await eventually('the problem', () => log.includes('\n'));
    expect([reporting.reviews, log]).toEqual([
      0,
      expect.stringMatching(/report to the controller failed: .*CERTIFICATE/),
    ]);
    write('contact.json', JSON.stringify(contact));
    await eventually('the report', () => reporting.reports.of(HELLO) !== undefined);
  });

  test('asks again if Flux does not answer, and ends when the broker has ended', async () => {
    write('contact.json', JSON.stringify(await reporting.contact()));
    const handles = join(folder, 'jobs.handles');
    for (const name of [handles, join(folder, 'jobs')]) rmSync(name);
    start();
    const end = new Promise((resolve) => child.once('exit', resolve));
    await eventually('another handle', () => readFileSync(handles, 'utf8') === 'xx');
    write('jobs', '3');
    await eventually('the report', () => reporting.reports.of(HELLO) !== undefined);
    rmSync(join(folder, 'jobs'));
    write('jobs.ended', '');
    expect([await end, log]).toEqual([0, '']);
  });
});
