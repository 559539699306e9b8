import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KubeObject } from '../cluster/cluster';
import { describeCluster } from '../cluster/suite';
import { stackObjects } from '../constructs/manifests';

const ROOT = join(__dirname, '../..');
const JOBS = join(ROOT, 'examples/jobs');
const example = (name: string) => join(JOBS, `${name}.yaml`);

describeCluster('the examples on a real apiserver', (getCluster) => {
  const kubectl = async (...args: string[]) => {
    const { code, stdout, stderr } = await getCluster().kubectl(args);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  const read = async (kind: string, name: string): Promise<KubeObject> =>
    JSON.parse(await kubectl('get', kind, name, '-n', 'science', '-o', 'json')) as KubeObject;

  describe('manifests, in a cluster with the stack', () => {
    beforeAll(async () => {
      await getCluster().apply(stackObjects({ kubernetesVersion: '1.37.1', externalRuntime: {} }));
      await kubectl('apply', '-f', example('namespace'));
      await getCluster().waitFor('admission to look at the namespace', async () => {
        const { stdout } = await getCluster().kubectl([
          ...['create', '-f', example('wide'), '--dry-run=server'],
          ...['-o', 'jsonpath={.spec.suspend}'],
        ]);
        return stdout === 'true';
      });
    });

    test.each(['wide', 'impossible'])('suspends the Job of %s.yaml', async (name) => {
      await kubectl('apply', '-f', example(name));
      expect((await read('job', name)).spec).toMatchObject({ suspend: true });
    });

    test('creates a new Job from small.yaml each time', async () => {
      const made = [
        await kubectl('create', '-f', example('small'), '-o', 'name'),
        await kubectl('create', '-f', example('small'), '-o', 'name'),
      ];
      expect(new Set(made).size).toBe(2);
      for (const name of made) expect(name).toMatch(/^job\.batch\/small-/);
    });

    test('gates the pod of pod.yaml', async () => {
      await kubectl('apply', '-f', example('pod'));
      expect((await read('pod', 'probe')).spec).toMatchObject({ schedulingGates: [{ name: 'fluxqueue' }] });
    });

    test('changes nothing when the manifests are applied again', async () => {
      const files = readdirSync(JOBS).filter((file) => file !== 'small.yaml');
      const args = files.flatMap((file) => ['-f', join(JOBS, file)]);
      await kubectl('apply', ...args);
      const lines = (await kubectl('apply', ...args)).trim().split('\n');
      expect(lines).toHaveLength(files.length);
      for (const line of lines) expect(line).toMatch(/ unchanged$/);
    });
  });

  /** Runs a program. @returns the written files */
  const synthesized = async (program: string): Promise<ReadonlyMap<string, string>> => {
    const outdir = mkdtempSync(join(tmpdir(), 'fluxqueue-example-'));
    try {
      const tsx = join(ROOT, 'node_modules/.bin/tsx');
      await promisify(execFile)(tsx, [`examples/${program}`], {
        cwd: ROOT,
        env: { ...process.env, CDK8S_OUTDIR: outdir },
      });
      const files = readdirSync(outdir).sort();
      return new Map(files.map((file) => [file, readFileSync(join(outdir, file), 'utf8')]));
    } finally {
      rmSync(outdir, { recursive: true });
    }
  };

  test('applies the manifests of queue.ts in the order of their files', async () => {
    const files = await synthesized('queue.ts');
    expect([...files.keys()]).toEqual(
      expect.arrayContaining(['fluxqueue-0-base.k8s.yaml', 'fluxqueue-5-scheduler.k8s.yaml']),
    );
    for (const text of files.values()) await getCluster().apply(text);
  });

  test('applies the namespace, queues and Jobs of team.ts', async () => {
    const files = await synthesized('team.ts');
    for (const text of files.values()) await getCluster().apply(text);
    const setups = await kubectl('get', 'fs', '-n', 'physics', '-o', 'jsonpath={.items[*].metadata.name}');
    expect(setups).toBe('default urgent');
    const queue = await kubectl(
      ...['get', 'job', 'simulate', '-n', 'physics', '-o'],
      'jsonpath={.metadata.labels.fluxqueue/queue}',
    );
    expect(queue).toBe('urgent');
  });
});
