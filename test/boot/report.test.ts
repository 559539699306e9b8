/** What a lead broker reports of its jobs and resources; test/miniclusters/report-receiver.test.ts has the controller. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type MiniClusterSpec, type ReportContact, renderMiniCluster } from '../../constructs/minicluster';
import { makeCertificate } from '../../runtime/admission/certificates';
import { jobsCommand } from '../../runtime/cli/minicluster';
import type { FluxNumbers } from '../../runtime/miniclusters/reports';
import { waitFor } from '../cluster/wait';
import { cluster } from '../miniclusters/objects';
import { SIZE } from './network';
import type { Pods } from './pods';
import { describeWithFlux, lines, logged, manifests } from './suite';

/** A server in the network of the pods, in place of the controller, that prints each report as a line. */
const SERVER = `
const [key, cert, host] = process.argv.slice(1);
require('node:https').createServer({ key, cert }, (request, response) => {
  let body = '';
  request.on('data', (chunk) => { body += chunk; }).on('end', () => {
    console.log(JSON.stringify({ url: request.url, token: request.headers.authorization, ...JSON.parse(body) }));
    response.writeHead(204).end();
  });
}).listen(8444, host, () => console.error('listening'));
`;
const PLACE = SIZE - 1;
const CONTAINER = { image: 'app', resources: { requests: { cpu: '2' } } };
const FLUX = { container: { disable: true }, report: true };
/** After `exec --namespace NAMESPACE WORKLOAD --`. */
const JOBS_AT = 5;
const NONE = { free: 0, allocated: 0, down: 0 };

type Report = FluxNumbers & { readonly url: string; readonly token: string };

describeWithFlux('with a real Flux', (boot) => {
  let server: ChildProcess;
  let reports: Report[] = [];
  let contact: ReportContact;

  beforeAll(async () => {
    const { key, cert, bundle } = await makeCertificate({ names: ['fluxqueue-reports'], now: new Date() });
    const address = boot.network.address(PLACE);
    const words = [process.execPath, '-e', SERVER, '--', key, cert, address];
    const [program, ...args] = [...boot.network.inside(PLACE), ...words];
    server = spawn(program!, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    createInterface({ input: server.stdout! }).on('line', (line) => reports.push(JSON.parse(line)));
    await logged(server, 'listening');
    // Of several controllers only the leader answers.
    const addresses = [`${boot.network.address(SIZE - 2)}:8444`, `${address}:8444`];
    contact = { addresses, host: 'fluxqueue-reports', ca: bundle, path: '/v1/lab/mc', every: 1 };
  });
  beforeEach(() => {
    reports = [];
  });
  afterAll(() => server.kill('SIGKILL'));

  const submit = (...words: string[]) => boot.inLead('flux', 'submit', ...words);

  function reporting(more: Partial<MiniClusterSpec>): Pods {
    const spec = { containers: [CONTAINER], flux: FLUX, ...more };
    const secret = manifests({ containers: [CONTAINER] }).at(-1)!;
    const metadata = { name: 'mc', namespace: 'lab' };
    return boot.boot([...renderMiniCluster({ metadata, spec }, { report: contact }), secret]);
  }

  function reported(what: string, isSo: (last: Report) => boolean): Promise<boolean> {
    return waitFor(what, () => {
      const last = reports.at(-1);
      if (last !== undefined && isSo(last)) return true;
      throw new Error(JSON.stringify(last));
    });
  }

  const jobs = (expected: FluxNumbers['jobs']) =>
    reported(
      `jobs ${JSON.stringify(expected)}`,
      (last) => JSON.stringify(last.jobs) === JSON.stringify(expected),
    );

  test('the lead broker reports its jobs and its resources while they change, and nothing after its end', async () => {
    const [lead] = await reporting({ size: 2, maxSize: 3 }).startAll();
    await reported('both brokers', ({ resources }) => resources.nodes.free === 2);
    const cores = { free: 4, allocated: 0, down: 2 };
    expect(reports.at(-1)).toEqual({
      url: '/v1/lab/mc',
      token: 'Bearer token for fluxqueue.converged-computing.org',
      jobs: { pending: 0, running: 0, done: 0, failed: 0 },
      resources: { nodes: { free: 2, allocated: 0, down: 1 }, cores, gpus: NONE },
    });

    await submit('-n1', 'false');
    const job = await submit('-N2', '--exclusive', 'sleep', '1000');
    await submit('-n1', 'true');
    await jobs({ pending: 1, running: 1, done: 1, failed: 1 });
    expect(reports.at(-1)?.resources.cores).toEqual({ free: 0, allocated: 4, down: 2 });
    // As `fluxqueue mc --jobs` lists them, in any pod.
    const listed = await boot.pods.exec(1, jobsCommand(cluster({ flux: FLUX })).slice(JOBS_AT));
    expect(lines(listed.stdout).filter((line) => /sleep|true|false/.test(line))).toHaveLength(3);
    await boot.inLead('flux', 'cancel', job);
    await jobs({ pending: 0, running: 0, done: 3, failed: 2 });
    await boot.pods.terminate(1);
    await reported('the end of the worker', ({ resources }) => resources.nodes.down === 2);

    await boot.inLead('flux', 'shutdown', '--quiet').catch(() => undefined);
    const { code, stderr } = await lead!.ended;
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('the report to the controller')]);
  });

  test('a lead broker that reports ends within 5 s after SIGTERM', async () => {
    const [lead] = await reporting({ size: 1 }).startAll();
    await reported('its node', ({ resources }) => resources.nodes.free === 1);
    const from = Date.now();
    await boot.pods.terminate(0);
    expect((await lead!.ended).code).toBe(143);
    expect(Date.now() - from).toBeLessThan(5000);
  });
});
