/**
 * `npm run -s first-hour -- --json`: what README and docs tell a new user to type, word by word: on the cluster of
 * `npm start -- --keep`, as somebody with the role `edit` (`admin` where the text says so), in empty projects on Node 20 and 24. The last line is JSON:
 * {steps, failed, skipped}; the exit code is 1 if a step failed. It fetches packages from the registry.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { messageOf } from '../../runtime/errors';
import { findAssets } from '../cluster/assets';
import { startCluster } from '../cluster/cluster';
import { PackedPackage } from '../package/packed';
import { runLine, type Surroundings } from '../shell-line';
import { Demo, LONGEST_MS } from './demo';
import { documentedLines, INLINE, isSkipped, type Line, type Plan, planOf, type Where } from './lines';
import { NODES, Project } from './project';

const ROOT = join(__dirname, '../..');
const NAMESPACE = 'science';
const options = new Command('first-hour')
  .option('--json', 'print only one line of JSON on stdout', false)
  .parse()
  .opts<{ json: boolean }>();

const print = (line: string) => process.stderr.write(`${line}\n`);
const LINES = [...documentedLines(), ...INLINE];

class FirstHour {
  steps = 0;
  failed = 0;
  readonly skipped = new Set<string>();

  /** @param refused it has to be refused with this sentence */
  async step(
    title: string,
    line: string,
    around: Surroundings,
    plan: Partial<Plan> = {},
    refused?: RegExp,
  ): Promise<void> {
    this.steps += 1;
    const { output, code } = await runLine(line, { ...around, longestMs: LONGEST_MS, until: plan.until });
    const isWell = refused === undefined ? code === 0 : code !== 0 && refused.test(output);
    if (!isWell) this.failed += 1;
    print(
      `${isWell ? 'ok' : 'FAILED'} ${title}: ${line.split('\n')[0]}${isWell ? '' : `\n${output}(exit code ${code})`}`,
    );
  }

  /** The lines of one place, in the order of the documents. */
  async lines(where: Where, node: string, aroundOf: (as: Plan['as']) => Surroundings): Promise<void> {
    for (const line of LINES) {
      const plan = planOf(line);
      if (plan === undefined) throw new Error(`${line.place}: nobody says who runs: ${line.text}`);
      if (isSkipped(plan)) this.skip(line, plan.because);
      else if (plan.where === where) {
        const refused = node.startsWith('20.') ? plan.refusedOn20 : undefined;
        await this.step(`${line.place}, Node ${node}`, line.text, aroundOf(plan.as), plan, refused);
      }
    }
  }

  skip({ place, text }: Line, because: string): void {
    this.skipped.add(`${place}: ${text.split('\n')[0]}: ${because}`);
  }
}

/** The manifests of dist/ on a cluster that has nothing. */
async function onEmptyCluster(hour: FirstHour): Promise<void> {
  const cluster = await startCluster({ progress: print });
  try {
    const around = {
      folder: ROOT,
      env: {
        ...process.env,
        KUBECONFIG: cluster.kubeconfig,
        PATH: `${dirname(cluster.kubectlPath)}:${process.env.PATH}`,
      },
    };
    await hour.lines('empty cluster', process.versions.node, () => around);
  } finally {
    await cluster.stop();
  }
}

async function inProjects(hour: FirstHour, demo: Demo, packed: PackedPackage, editor: string): Promise<void> {
  const { kubectl } = await findAssets();
  for (const node of NODES) {
    let project: Project;
    try {
      project = Project.install(packed, node);
    } catch (error) {
      hour.skip({ place: 'README.md', text: `Node ${node}` }, messageOf(error));
      continue;
    }
    const of = (kubeconfig: string) => {
      const { folder, env } = project.surroundings(kubeconfig, demo.programs);
      return { folder, env: { ...env, KUBEBUILDER_ASSETS: dirname(kubectl) } };
    };
    const [admin, user] = [of(demo.kubeconfig), of(editor)];
    await hour.step(`Node ${node}`, 'node --version', user);
    await hour.lines('project', node, (as) => (as === 'admin' ? admin : user));
  }
}

async function onDemo(hour: FirstHour, folder: string): Promise<void> {
  print('npm start -- --keep');
  const demo = await Demo.start();
  const packed = new PackedPackage();
  try {
    for (const line of demo.commands)
      await hour.step('npm start -- --keep', `${demo.use}; ${line}`, { folder: ROOT, env: process.env });
    const editor = await demo.person('ada', 'edit', NAMESPACE, folder);
    const owner = await demo.person('grace', 'admin', NAMESPACE, folder);
    await inProjects(hour, demo, packed, editor);
    const PATH = `${join(ROOT, 'node_modules/.bin')}:${demo.programs}:${process.env.PATH}`;
    const clone = (kubeconfig: string) => ({
      folder: join(packed.folder, 'source'),
      env: { ...process.env, PATH, KUBECONFIG: kubeconfig },
    });
    await hour.lines('clone', process.versions.node, (as) => clone(as === 'owner' ? owner : editor));
  } finally {
    packed.remove();
    await demo.stop();
  }
}

async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-first-hour-'));
  const hour = new FirstHour();
  try {
    await onEmptyCluster(hour);
    await onDemo(hour, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
  const { steps, failed } = hour;
  const skipped = [...hour.skipped];
  for (const line of skipped) print(`not run: ${line}`);
  const text = `${steps} steps, ${failed} failed, ${skipped.length} lines run elsewhere`;
  process.stdout.write(
    `${options.json ? JSON.stringify({ steps, failed, elsewhere: skipped.length }) : text}\n`,
  );
  return failed === 0 ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    print(messageOf(error));
    process.exit(1);
  },
);
