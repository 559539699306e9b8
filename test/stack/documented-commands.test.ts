// Own cluster: the read API.
/** The commands of the documents on a real control plane: each line of docs/cli.md and README.md, and `kubectl wait` of docs/gitops.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { PAGE_FILE, page, writtenPage } from '../docs/commands/page';
import { NODES, Scene } from '../docs/commands/scene';
import { describeOwnStack, inOneNamespace } from './suite';
import { ADA } from './users';
import { Namespace } from './workloads';

/** `npm run -s generate:cli` sets it. */
const WRITES = process.env.GENERATE === 'cli';

/** Lines that `kubectl` or `fluxqueue` begins, in the consoles of README.md. */
const README = [...readFileSync('README.md', 'utf8').matchAll(/^\$ ((?:kubectl|fluxqueue) .*)$/gm)].map(
  ([, line = '']) => line,
);

/** The lines of the page, without their comments. */
const WAITS = readFileSync('docs/gitops.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('kubectl wait '))
  .map((line) => line.replace(/\s*#.*/, ''));

describeOwnStack(
  'commands of the documents',
  (getFixture) => {
    let science: Namespace;
    inOneNamespace(getFixture, (namespace) => {
      science = namespace;
    });

    describe('beside waiting and running workloads', () => {
      let scene: Scene;
      beforeAll(async () => {
        await getFixture().stack.startReader();
        scene = await Scene.start(getFixture, science);
      });
      afterAll(() => scene?.end(), 60_000);

      test('docs/cli.md has what they print (npm run -s generate:cli)', async () => {
        const text = page(await scene.printed());
        if (WRITES) writeFileSync(PAGE_FILE, text);
        expect(writtenPage()).toBe(text);
      });

      test('README.md shows some', () => {
        expect(README.length).toBeGreaterThan(5);
      });

      test.each(README)('README.md: %s', async (line) => {
        const who = line.includes('# an administrator') ? 'admin' : 'user';
        expect((await scene.print({ line }, who)).output).not.toBe('');
      });
    });

    describe('kubectl wait', () => {
      let laboratory: Namespace;
      beforeAll(async () => {
        const { cluster } = getFixture().stack;
        laboratory = await Namespace.create(getFixture, 'laboratory');
        const metadata = (name: string) => ({ name, namespace: laboratory.name });
        const containers = [{ image: 'none', command: 'hostname' }];
        const pod = { annotations: { 'fluxqueue.test/duration': '1s' } };
        await cluster.create([
          {
            apiVersion: 'flux-framework.org/v1alpha1',
            kind: 'FluxSetup',
            metadata: metadata('default'),
            spec: {},
          },
          {
            apiVersion: 'flux-framework.org/v1alpha2',
            kind: 'MiniCluster',
            metadata: metadata('hello'),
            spec: { size: 2, containers, pod },
          },
        ]);
        await laboratory.job('train');
        // kubectl waits only for objects that exist.
        await cluster.waitFor('its FluxJob', () => laboratory.fluxJob('train-job'));
      });

      test('docs/gitops.md has an example of each kind', () => {
        for (const kind of ['fs/', 'mc/', 'fj/', 'job/'])
          expect(WAITS.some((line) => line.startsWith(`kubectl wait ${kind}`))).toBe(true);
      });

      test.each(WAITS)('%s', async (line) => {
        const args = [...line.split(' ').slice(1), `--namespace=${laboratory.name}`];
        const { code, stderr } = await getFixture().stack.cluster.kubectl(args);
        expect([code, stderr]).toEqual([0, '']);
      });
    });
  },
  { cluster: { ...NODES, users: [ADA] }, readApi: true },
);
