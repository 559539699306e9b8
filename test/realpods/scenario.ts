/** One combination of the stack from apply to removal, in real pods, with everything on the way that can end a pod. */
import type { FluxQueueProps } from '../../constructs/fluxqueue';
import { messageOf } from '../../runtime/errors';
import { type RealCluster, startRealCluster } from './cluster';
import type { Images } from './images';
import { Load, TEAM } from './load';
import { RestartCounter } from './restarts';
import { DeployedStack, synthesize } from './stack';
import * as steps from './steps';

export interface Combination {
  readonly admission: 'webhook' | 'policies';
  /** Where matching happens: in the controller, in a container beside it, there over flux-sched's library. */
  readonly fluxion: 'embedded' | 'sidecar' | 'library';
}

export interface ScenarioOptions extends Combination {
  readonly props: FluxQueueProps;
  readonly images: Images;
  readonly nodes: number;
  /** Only apply, Jobs, one of each kill, and removal. @default false */
  readonly reduced?: boolean;
  readonly progress: (line: string) => void;
}

/** What a run shows; `problems` is empty when all is well. */
export interface Figures {
  readonly admission: Combination['admission'];
  readonly fluxion: Combination['fluxion'];
  readonly nodes: number;
  /** From the first apply until every pod of the stack is Ready. */
  readySeconds?: number;
  /** Container restarts that the test did not cause. */
  restarts?: number;
  jobs?: number;
  finished?: number;
  /** Jobs that were taken and did not finish. */
  lost?: number;
  /** Creations of Jobs that were refused for a while, and then were taken. */
  refused?: number;
  /** The longest time after the kill of a container until every pod was Ready again. */
  killedContainerReadySeconds?: number;
  /** The same for a pod that is deleted. */
  deletedPodReadySeconds?: number;
  /** From the deletion of the leader's pod until the next Job has its node. */
  handoverSeconds?: number;
  /** From the kill of the leader's controller (SIGKILL) until the next Job has its node. */
  crashHandoverSeconds?: number;
  /** From the forced deletion of all pods of the stack until all of them are Ready. */
  allPodsReadySeconds?: number;
  /** From the drain of a node until it has no pod of the stack and no Job, and all are Ready. */
  drainSeconds?: number;
  /** From the end of the Node of a machine without power until the Job that ran there runs elsewhere. */
  nodeDeathSeconds?: number;
  /** Until nothing of the stack is left. */
  removeSeconds?: number;
  readonly problems: string[];
}

/** Everything that the steps need, and the figures that they fill in. */
export interface Run {
  readonly rig: RealCluster;
  readonly stack: DeployedStack;
  readonly load: Load;
  readonly restarts: RestartCounter;
  readonly figures: Figures;
  readonly say: (line: string) => void;
}

/** Runs it on a cluster of its own. Never throws for what the stack does: that is in `problems`. */
export async function runScenario(options: ScenarioOptions): Promise<Figures> {
  const { admission, fluxion, nodes, images, progress } = options;
  const figures: Figures = { admission, fluxion, nodes, problems: [] };
  const started = performance.now();
  const say = (line: string) => {
    const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
    progress(`${admission}, ${fluxion}: ${seconds} s: ${line}`);
  };
  const rig = await startRealCluster({ nodes, images, progress: say });
  try {
    const stack = new DeployedStack(rig.cluster, synthesize(options.props, rig.directory));
    await steps.applyAndWait(stack, figures, say);
    await runSteps({ rig, stack, figures, say }, options);
  } catch (error) {
    figures.problems.push(messageOf(error));
  } finally {
    await rig.stop();
  }
  return figures;
}

async function runSteps(
  parts: Pick<Run, 'rig' | 'stack' | 'figures' | 'say'>,
  { reduced = false, nodes }: ScenarioOptions,
): Promise<void> {
  const { rig, stack, figures } = parts;
  await optIn(rig);
  const restarts = new RestartCounter(stack);
  // One node's cores stay free, so that what is measured is the queue and not the room.
  const load = new Load(rig.cluster, nodes);
  const run: Run = { ...parts, load, restarts };
  try {
    for (const step of reduced ? steps.REDUCED : steps.ALL) await step(run);
    await load.drain();
  } catch (error) {
    figures.problems.push(`${messageOf(error)}\n${await stack.describe()}`);
  } finally {
    await load.stop();
    count(figures, load, await load.unfinished());
    const unwanted = await restarts.finish();
    figures.restarts = unwanted.reduce((sum, { count }) => sum + count, 0);
    figures.problems.push(...unwanted.map(({ container, count }) => `${container} restarted ${count} times`));
  }
  if (figures.problems.length === 0) await steps.remove(run);
}

function count(figures: Figures, load: Load, unfinished: readonly string[]): void {
  figures.jobs = load.names.length;
  figures.lost = unfinished.length;
  figures.finished = figures.jobs - figures.lost;
  figures.refused = load.refusals.length;
  if (unfinished.length > 0) figures.problems.push(`Jobs that did not finish: ${unfinished.join(', ')}`);
}

/** A namespace as a platform team makes it. */
async function optIn({ cluster }: RealCluster): Promise<void> {
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: TEAM, labels: { 'fluxqueue/enabled': 'true' } },
  });
  await cluster.waitFor('the ServiceAccount of the namespace', () =>
    cluster.get(`/api/v1/namespaces/${TEAM}/serviceaccounts/default`),
  );
}
