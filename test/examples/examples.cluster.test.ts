// Own cluster: whole stacks are applied to it.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../cluster/cluster';
import { describeOwnCluster } from '../cluster/suite';
import { installOperators } from '../constructs/fluxqueue/operators';
import { stackObjects } from '../constructs/manifests';

const ROOT = join(__dirname, '../..');
const JOBS = join(ROOT, 'examples/jobs');
const example = (name: string) => join(JOBS, `${name}.yaml`);

describeOwnCluster('the examples on a real apiserver', (getCluster) => {
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

  /** Runs a program, and uses the folder that it writes. */
  const synthesized = async (program: string, use: (folder: string) => Promise<void>): Promise<void> => {
    const outdir = mkdtempSync(join(tmpdir(), 'fluxqueue-example-'));
    try {
      const tsx = join(ROOT, 'node_modules/.bin/tsx');
      await promisify(execFile)(tsx, [`examples/${program}`], {
        cwd: ROOT,
        env: { ...process.env, CDK8S_OUTDIR: outdir },
      });
      await use(outdir);
    } finally {
      rmSync(outdir, { recursive: true });
    }
  };
  const manifests = (folder: string) => readdirSync(folder).filter((file) => file.endsWith('.yaml'));
  const listed = (output: string) =>
    parseAllDocuments(output).map((document) => {
      const { kind, metadata } = document.toJS() as KubeObject;
      return `${kind}/${metadata.name}`;
    });

  test('applies the manifests of queue.ts with kubectl apply -k, in the order of their files', async () => {
    await synthesized('queue.ts', async (folder) => {
      const files = manifests(folder).sort();
      expect(files).toEqual(
        expect.arrayContaining(['fluxqueue-0-base.k8s.yaml', 'fluxqueue-5-scheduler.k8s.yaml']),
      );
      const written = files.flatMap((file) => listed(readFileSync(join(folder, file), 'utf8')));
      expect(listed(await kubectl('kustomize', folder))).toEqual(written);
      const apply = async () => {
        const output = await kubectl(
          'apply',
          '--server-side',
          '--force-conflicts',
          '-k',
          folder,
          '-o',
          'json',
        );
        const { items } = JSON.parse(output) as { items: KubeObject[] };
        return items.map(({ kind, metadata }) => [`${kind}/${metadata.name}`, metadata.generation ?? 1]);
      };
      const first = await apply();
      expect(first.map(([name]) => name)).toEqual(written);
      expect(await apply()).toEqual(first);
      // A directory as -f has the same manifests, and kustomize's own file is not one of them.
      await kubectl('apply', '--server-side', '--force-conflicts', '-f', folder);
    });
  });

  test('applies the objects of both engines of gitops.ts strictly, twice without a change', async () => {
    await installOperators(getCluster());
    const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await getCluster().apply(['flux-system', 'argocd'].map(namespace));
    await synthesized('gitops.ts', async (folder) => {
      const apply = async () => {
        const args = ['apply', '--server-side', '--validate=strict', '-f', folder, '-o', 'json'];
        const { items } = JSON.parse(await kubectl(...args)) as { items: KubeObject[] };
        return items.map(({ kind, metadata }) => [`${kind}/${metadata.name}`, metadata.resourceVersion]);
      };
      const first = await apply();
      expect(first.map(([name]) => name)).toEqual([
        'ConfigMap/argocd-cm',
        'Application/fluxqueue',
        'ApplicationSet/teams',
        'ApplicationSet/stacks',
        'OCIRepository/cluster',
        'Kustomization/fluxqueue',
        'Kustomization/physics',
      ]);
      expect(await apply()).toEqual(first);
    });
  });

  test('applies the namespace, queues and Jobs of team.ts', async () => {
    await synthesized('team.ts', async (folder) => {
      for (const file of manifests(folder)) await kubectl('apply', '-f', join(folder, file));
    });
    const setups = await kubectl('get', 'fs', '-n', 'physics', '-o', 'jsonpath={.items[*].metadata.name}');
    expect(setups).toBe('team urgent');
    const queue = await kubectl(
      ...['get', 'job', 'simulate', '-n', 'physics', '-o'],
      'jsonpath={.metadata.labels.fluxqueue/queue}',
    );
    expect(queue).toBe('urgent');
  });
});
