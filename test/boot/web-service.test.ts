/** The example of a web service that submits jobs to an interactive cluster. */
import type { ManifestObject } from '../../constructs/minicluster';
import { waitFor } from '../cluster/wait';
import { example } from '../examples/miniclusters';
import { describeWithFlux, lines, manifests } from './suite';

const TOKEN = 'a-secret-token';
const CLIENT = `
import json, sys, urllib.error, urllib.request
path, token, body = sys.argv[1:]
data = body.encode() if body else None
request = urllib.request.Request("http://web-0.web:8080" + path, data, {"Authorization": "Bearer " + token})
try:
    with urllib.request.urlopen(request, timeout=10) as response: print(response.status, response.read().decode())
except urllib.error.HTTPError as error: print(error.code, error.read().decode())
`;

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** The objects of the example, its token, and the certificate that its Job would make. */
function objects(): ManifestObject[] {
  const made = example('web-service.ts').objects as unknown as ManifestObject[];
  const certificate = manifests({ containers: [{ image: 'x' }] }).at(-1)!;
  const secret = { apiVersion: 'v1', kind: 'Secret' };
  return [
    { ...secret, metadata: { name: 'web-token' }, data: { token: TOKEN } },
    { ...certificate, metadata: { name: 'web-curve' } },
    ...made.filter(({ metadata }) => !metadata.name.endsWith('-keygen')),
  ];
}

describeWithFlux('with a real Flux', (boot) => {
  async function call(path: string, body = '', token = TOKEN): Promise<Answer> {
    const { stdout, stderr } = await boot.pods.exec(1, ['python3', '-c', CLIENT, path, token, body]);
    const found = /^(\d+) (.*)/s.exec(stdout);
    if (found === null) throw new Error(stderr);
    return { status: Number(found[1]), body: JSON.parse(found[2]!) };
  }

  test('the web service runs jobs for those who have the token', async () => {
    await boot.boot(objects()).startAll();
    await waitFor('two nodes', async () => (await boot.nodesUp()) === 2);
    const job = JSON.stringify({ command: ['hostname'], nodes: 2 });
    await waitFor('the service', () => call('/nothing'));
    expect((await call('/jobs', job, 'wrong')).status).toBe(401);
    expect((await call('/jobs', '{"command": 7}')).status).toBe(400);
    const { status, body } = await call('/jobs', job);
    expect([status, body]).toEqual([201, { id: expect.stringMatching(/^f/) }]);
    const show = () => call(`/jobs/${body.id as string}`);
    await waitFor('the end of the job', async () => (await show()).body.state === 'INACTIVE');
    const ended = (await show()).body;
    expect(ended).toMatchObject({ state: 'INACTIVE', result: 'COMPLETED', returncode: 0 });
    expect(lines(ended.output as string)).toEqual(['web-0', 'web-1']);
    expect((await call('/jobs/f1')).status).toBe(404);
  });
});
