/** Runs one combination of the stack in real pods, from apply to removal, with kills, deletions, a drain and a node failure. */
import type { FluxQueueProps } from '../../constructs/fluxqueue';
import { messageOf } from '../../runtime/errors';
import { type RealCluster, startRealCluster } from './cluster';
import { fluxVersion } from './flux';
import type { Images } from './images';
import { Load, TEAM } from './load';
import { RestartCounter } from './restarts';
import { DeployedStack, synthesize } from './stack';
import * as steps from './steps';

export interface Combination {
  readonly admission: 'webhook' | 'policies';
  /** Where matching runs: in the controller, in a sidecar container, or in the sidecar with the library of flux-sched. */
  readonly fluxion: 'embedded' | 'sidecar' | 'library';
}

export interface ScenarioOptions extends Combination {
  readonly props: FluxQueueProps;
  readonly images: Images;
  readonly nodes: number;
  /** Runs apply, Jobs, a rolling update, a handover, the deletion of all pods, and removal only. @default false */
  readonly reduced?: boolean;
  readonly progress: (line: string) => void;
}

/** The results of a run; `problems` is empty if it succeeded. */
export interface Figures {
  readonly admission: Combination['admission'];
  readonly fluxion: Combination['fluxion'];
  readonly nodes: number;
  /** Version of the Flux that the MiniCluster runs, or `fake`. */
  readonly flux: string;
  /** Time from the first apply until every pod of the stack is Ready. */
  readySeconds?: number;
  /** Container restarts that the test did not cause. */
  restarts?: number;
  jobs?: number;
  finished?: number;
  /** Number of Jobs that were created and did not finish. */
  lost?: number;
  /** Number of Job creations that were refused and retried. */
  refused?: number;
  /** The longest time from the kill of a container until every pod was Ready again. */
  killedContainerReadySeconds?: number;
  /** The longest time from the deletion of a pod until every pod was Ready again. */
  deletedPodReadySeconds?: number;
  /** Time from the deletion of the leader's pod until the next Job is released. */
  handoverSeconds?: number;
  /** Time from SIGKILL for the leader's controller until the next Job is released. */
  crashHandoverSeconds?: number;
  /** Creations of Jobs while every Deployment of the stack was restarted, and how many of them were refused. */
  rolloutCreations?: number;
  rolloutRefused?: number;
  /** The longest time without a grant meanwhile. */
  rolloutGapSeconds?: number;
  /** Time from the forced deletion of all pods of the stack until all of them are Ready. */
  allPodsReadySeconds?: number;
  /** Time from that deletion until a Job of after it is released. */
  allPodsGrantSeconds?: number;
  /** Time from the start of a drain until the node is empty and all pods of the stack are Ready. */
  drainSeconds?: number;
  /** Time from the deletion of the Node of a failed machine until its Job runs on another node. */
  nodeDeathSeconds?: number;
  /** Time until all objects of the stack are deleted. */
  removeSeconds?: number;
  readonly problems: string[];
}

/** The input of the steps, and the figures that they set. */
export interface Run {
  readonly rig: RealCluster;
  readonly stack: DeployedStack;
  readonly load: Load;
  readonly restarts: RestartCounter;
  readonly figures: Figures;
  readonly say: (line: string) => void;
}

/** Runs the scenario on a new cluster. Failures of the stack are reported in `problems` and not thrown. */
export async function runScenario(options: ScenarioOptions): Promise<Figures> {
  const { admission, fluxion, nodes, images, progress } = options;
  const figures: Figures = { admission, fluxion, nodes, flux: fluxVersion(), problems: [] };
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
  // At most one Job per node, so that the figures measure the queue and not a lack of cores.
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

/** Creates a namespace that opts in to the queue. */
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
