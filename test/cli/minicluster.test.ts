import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { miniClusterLines } from '../../runtime/cli/minicluster';
import { cluster } from '../miniclusters/objects';
import { NUMBERS } from '../miniclusters/reporting';

const run = promisify(execFile);
const ready = {
  type: 'Ready',
  status: 'True',
  reason: 'BrokersUp',
  message: '4 of 4 brokers are up',
  lastTransitionTime: '',
} as const;
const RUNNING = { phase: 'Running', conditions: [ready] } as const;
const REPORTS = { flux: { report: true } };
const LINES = [
  'science/hello  Running: 4 of 4 brokers are up',
  'jobs   3 pending, 2 running, 10 done (1 failed)',
  'nodes  1 free, 2 allocated, 1 down',
  'cores  2 free, 6 allocated, 4 down',
];

test('prints messages as text', () => {
  const conditions = [{ ...ready, message: 'Invalid: 2 problems\nof \u001b[2J' }];
  expect(miniClusterLines(cluster({}, { phase: 'Requested', conditions }))[0]).toBe(
    'science/hello  Requested: Invalid: 2 problems\nof  [2J',
  );
});

test('prints the numbers of jobs and of the kinds of resources that there are', () => {
  expect(miniClusterLines(cluster(REPORTS, { ...RUNNING, flux: NUMBERS }))).toEqual(LINES);
});

test.each([
  ['without flux.report', cluster({}, RUNNING), /spec\.flux\.report: true/],
  ['without a report', cluster(REPORTS, RUNNING), /nothing in the last minute/],
  ['before it runs', cluster(REPORTS), /does not run/],
  ['after its end', cluster(REPORTS, { phase: 'Finished', result: 'Failed' }), /does not run/],
])('says why there are no numbers %s', (_, of, why) => {
  expect(miniClusterLines(of).at(-1)).toMatch(why);
});

test('reads the namespace of the kubeconfig, and lists single jobs by kubectl', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-mc-'));
  const paths: string[] = [];
  const server = createServer(({ url }, response) => {
    paths.push(url!);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(cluster(REPORTS, { ...RUNNING, flux: NUMBERS })));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'c', cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } },
    ],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'science' } }],
    'current-context': 'x',
  };
  writeFileSync(join(folder, 'config'), JSON.stringify(config));
  writeFileSync(join(folder, 'kubectl'), '#!/bin/sh\necho "$@"\n');
  chmodSync(join(folder, 'kubectl'), 0o755);
  const env = { ...process.env, KUBECONFIG: join(folder, 'config'), PATH: `${folder}:${process.env.PATH}` };
  const program = join(__dirname, '../../bin/fluxqueue.js');
  const { stdout } = await run(process.execPath, [program, 'mc', 'hello', '--jobs'], { env });
  server.close();
  rmSync(folder, { recursive: true });
  const exec = 'exec --namespace science job/hello -- sh /mnt/flux/flux-connect.sh flux jobs -a';
  expect(stdout.trim().split('\n')).toEqual([...LINES, exec]);
  expect(paths).toEqual(['/apis/flux-framework.org/v1alpha2/namespaces/science/miniclusters/hello']);
});
