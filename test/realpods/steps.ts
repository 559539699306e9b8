/** The steps of the scenario. After each step the stack is Ready again. */
import type { KubeObject } from '../cluster/cluster';
import { isReady } from './cluster';
import { leftovers } from './leftovers';
import { jobManifest, TEAM } from './load';
import { runMiniCluster } from './minicluster';
import { askReader } from './reads';
import { applyAgain, rollOut } from './rollout';
import type { Figures, Run } from './scenario';
import { replaceServicePod } from './services';
import { type DeployedStack, type RealPod, STACK_NAMESPACE } from './stack';

type Step = (run: Run) => Promise<void>;

const since = (start: number): number => Math.round((performance.now() - start) / 10) / 100;

export async function applyAndWait(
  stack: DeployedStack,
  figures: Figures,
  say: (line: string) => void,
): Promise<void> {
  const start = performance.now();
  await stack.apply();
  await stack.waitReady();
  figures.readySeconds = since(start);
  say(`applied, and Ready after ${figures.readySeconds} s`);
}

/** Jobs with real containers, one of them a gang, run on the nodes that their FluxJobs name. */
async function runJobs({ load, figures, say, rig }: Run): Promise<void> {
  const names = [await load.submit('gang', { pods: rig.nodes.length })];
  for (let i = 0; i < 6; i++) names.push(await load.submit(`single-${i}`));
  await load.waitFinished(names, 120_000);
  for (const name of names) {
    const granted = (await load.finishedFluxJob(name)).allocation?.map(({ node }) => node) ?? [];
    const strays = (await load.nodesOfPods(name)).filter((node) => !granted.includes(node));
    if (strays.length > 0 || granted.length === 0) {
      figures.problems.push(`Job ${name} was granted ${granted} and also ran on ${strays}`);
    }
  }
  say(`${names.length} Jobs ran on the nodes of their FluxJobs`);
}

/** Sends SIGKILL to each container of the stack, one after the other. */
async function killContainers(run: Run): Promise<void> {
  const { stack, say, figures } = run;
  run.load.resume();
  for (const { metadata } of await stack.pods()) {
    const pod = (await stack.pods()).find((candidate) => candidate.metadata.uid === metadata.uid);
    for (const { name } of pod?.status.containerStatuses ?? []) {
      const seconds = await killContainer(run, metadata.uid, name);
      figures.killedContainerReadySeconds = Math.max(figures.killedContainerReadySeconds ?? 0, seconds);
      say(`killed container ${name} of ${metadata.name}: Ready after ${seconds} s`);
    }
  }
}

async function killContainer(run: Run, uid: string, container: string): Promise<number> {
  const start = performance.now();
  await sigkill(run, uid, container);
  await run.stack.waitReady();
  return since(start);
}

/** Returns after the restart of the container, because the pod stays Ready until the kubelet notices the exit. */
async function sigkill({ rig, stack, restarts }: Run, uid: string, container: string): Promise<void> {
  const find = async () => (await stack.pods()).find(({ metadata }) => metadata.uid === uid);
  const pod = await find();
  const before = pod?.status.containerStatuses?.find(({ name }) => name === container);
  if (pod === undefined || before?.containerID === undefined)
    throw new Error(`no container ${container} in ${uid}`);
  restarts.expect(pod, container);
  await rig.node(pod.spec.nodeName ?? '').killContainer(before.containerID);
  await rig.cluster.waitFor(
    `container ${container} to restart`,
    async () =>
      (await find())?.status.containerStatuses?.some(
        ({ name, restartCount }) => name === container && restartCount > before.restartCount,
      ),
    { timeoutMs: 120_000 },
  );
}

/** Deletes each pod of the stack, one after the other. */
async function deletePods({ stack, say, figures, load }: Run): Promise<void> {
  load.resume();
  for (const { metadata } of await stack.waitReady()) {
    const start = performance.now();
    await stack.deletePod(metadata.name);
    await waitReplaced(stack, [metadata.uid]);
    const seconds = since(start);
    figures.deletedPodReadySeconds = Math.max(figures.deletedPodReadySeconds ?? 0, seconds);
    say(`deleted pod ${metadata.name}: Ready after ${seconds} s`);
  }
}

async function waitReplaced(stack: DeployedStack, uids: readonly string[]): Promise<RealPod[]> {
  for (;;) {
    const pods = await stack.waitReady();
    if (!pods.some(({ metadata }) => uids.includes(metadata.uid))) return pods;
  }
}

/** Deletes the pod of the leader and measures the time until the next Job is released. */
async function deleteLeader(run: Run): Promise<void> {
  const { stack, figures, say, load } = run;
  await load.drain();
  await stack.waitReady();
  const leader = await stack.leader();
  figures.handoverSeconds = await timeToGrant(run, 'after-leader', () =>
    stack.deletePod(leader.metadata.name),
  );
  say(`deleted the leader ${leader.metadata.name}: the next grant after ${figures.handoverSeconds} s`);
  await waitReplaced(stack, [leader.metadata.uid]);
}

/** Kills the process of the leader, so that it can not release its lease. */
async function killLeader(run: Run): Promise<void> {
  const { stack, figures, say, load } = run;
  await load.drain();
  await stack.waitReady();
  const leader = await stack.leader();
  figures.crashHandoverSeconds = await timeToGrant(run, 'after-crash', () =>
    sigkill(run, leader.metadata.uid, 'controller'),
  );
  say(`killed the leader ${leader.metadata.name}: the next grant after ${figures.crashHandoverSeconds} s`);
  await stack.waitReady();
}

async function timeToGrant(run: Run, name: string, cause: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await cause();
  await submitUntilReleased(run, name);
  return since(start);
}

async function submitUntilReleased({ load, rig }: Run, name: string): Promise<void> {
  await load.submit(name);
  await rig.cluster.waitFor(
    `Job ${name} to be released`,
    async () => (await load.job(name)).spec.suspend === false,
    { timeoutMs: 90_000 },
  );
}

/** Force-deletes all pods of the stack at once. */
async function deleteAllPods(run: Run): Promise<void> {
  const { stack, figures, say, load } = run;
  load.resume();
  const pods = await stack.waitReady();
  const start = performance.now();
  await stack.kubectl(
    'delete',
    'pods',
    '--all',
    '-n',
    STACK_NAMESPACE,
    '--force',
    '--grace-period=0',
    '--wait=false',
  );
  const old = pods.map(({ metadata }) => metadata.uid);
  const ready = async () => {
    await waitReplaced(stack, old);
    figures.allPodsReadySeconds = since(start);
  };
  const granted = async () => {
    await submitUntilReleased(run, 'after-all');
    figures.allPodsGrantSeconds = since(start);
  };
  await Promise.all([ready(), granted()]);
  say(
    `force-deleted all pods: Ready after ${figures.allPodsReadySeconds} s, the next grant after ${figures.allPodsGrantSeconds} s`,
  );
}

/** Returns a node without the database, whose volume is on the disk of its node; the node of the leader if possible. */
async function nodeWithoutDatabase({ stack, rig }: Run): Promise<string> {
  const database = (await stack.pods()).find(({ metadata }) =>
    metadata.name.startsWith('fluxqueue-database'),
  );
  const leader = await stack.leader();
  const others = rig.nodes.map(({ name }) => name).filter((name) => name !== database?.spec.nodeName);
  return others.find((name) => name === leader.spec.nodeName) ?? others[0]!;
}

async function drainNode(run: Run): Promise<void> {
  const { stack, figures, say, load } = run;
  load.resume();
  await stack.waitReady();
  const node = await nodeWithoutDatabase(run);
  const start = performance.now();
  await stack.kubectl('drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=180s');
  await stack.waitReady();
  figures.drainSeconds = since(start);
  say(`drained ${node}: Ready after ${figures.drainSeconds} s`);
  await load.drain();
  await stack.kubectl('uncordon', node);
}

/**
 * The power of a node fails while a Job runs on it. Kubernetes sets it NotReady and keeps its pods for minutes. The node
 * is lost when its Node is deleted, by a cloud controller or an administrator. Later the machine starts again.
 */
async function killNode(run: Run): Promise<void> {
  const { stack, figures, say, load, rig } = run;
  await stack.waitReady();
  const node = await nodeWithoutDatabase(run);
  const name = await jobOn(run, node);
  await rig.node(node).powerOff();
  const path = `/api/v1/nodes/${node}`;
  await rig.cluster.waitFor(
    `node ${node} to be NotReady`,
    async () => !isReady(await rig.cluster.get<KubeObject>(path)),
    { timeoutMs: 90_000 },
  );
  say(`power failure of ${node}, where Job ${name} runs: NotReady`);
  const start = performance.now();
  await stack.kubectl('delete', 'node', node, '--wait=false');
  await rig.cluster.waitFor(
    `Job ${name} to run on another node`,
    async () => {
      const { allocation = [], phase } = await load.fluxJob(name);
      return phase === 'Running' && allocation.every((granted) => granted.node !== node);
    },
    { timeoutMs: 180_000 },
  );
  figures.nodeDeathSeconds = since(start);
  say(`deleted its Node: the Job runs on another node after ${figures.nodeDeathSeconds} s`);
  await rig.node(node).powerOn();
  await rig.cluster.waitFor(
    `node ${node} to be Ready again`,
    async () => isReady(await rig.cluster.get<KubeObject>(path)),
    { timeoutMs: 60_000 },
  );
  await stack.waitReady();
  say(`${node} is Ready again`);
  await load.drain();
}

/** Submits two Jobs per node and returns one that runs on this node. */
async function jobOn({ load, rig }: Run, node: string): Promise<string> {
  await load.drain();
  const names = rig.nodes.flatMap((_, index) => [`outage-${index}-a`, `outage-${index}-b`]);
  for (const name of names) await load.submit(name, { seconds: 25 });
  return rig.cluster.waitFor(`a Job to run on ${node}`, async () => {
    for (const name of names) {
      const { phase, allocation } = await load.fluxJob(name);
      if (phase === 'Running' && allocation?.some((granted) => granted.node === node)) return name;
    }
    return undefined;
  });
}

/** Removes the stack and checks that no object is left, that new Jobs run, and that a suspended Job can be resumed manually. */
export async function remove({ stack, rig, figures, say }: Run): Promise<void> {
  const { cluster } = rig;
  const held = jobManifest('held');
  await cluster.create({
    ...held,
    metadata: { ...held.metadata, annotations: { 'fluxqueue/hold': 'true' } },
  });
  const start = performance.now();
  await stack.remove();
  await cluster.waitFor(
    `namespace ${STACK_NAMESPACE} to be deleted`,
    async () => (await cluster.api.send('GET', `/api/v1/namespaces/${STACK_NAMESPACE}`)).status === 404,
  );
  figures.removeSeconds = since(start);
  say(`removed in ${figures.removeSeconds} s`);
  await stack.kubectl('patch', 'job', 'held', '-n', TEAM, '--patch', '{"spec":{"suspend":false}}');
  await cluster.create(jobManifest('plain'));
  for (const name of ['plain', 'held']) {
    await cluster.waitFor(`Job ${name} to finish without the queue`, async () => {
      const { status } = await cluster.get<{ status?: { succeeded?: number } }>(
        `/apis/batch/v1/namespaces/${TEAM}/jobs/${name}`,
      );
      return status?.succeeded === 1;
    });
  }
  figures.problems.push(...(await leftovers(cluster.api)));
}

export const REDUCED: readonly Step[] = [
  runJobs,
  replaceServicePod,
  askReader,
  runMiniCluster,
  applyAgain,
  rollOut,
  deleteLeader,
  deleteAllPods,
  askReader,
];
export const ALL: readonly Step[] = [
  runJobs,
  replaceServicePod,
  askReader,
  runMiniCluster,
  applyAgain,
  rollOut,
  killContainers,
  deletePods,
  deleteLeader,
  killLeader,
  deleteAllPods,
  askReader,
  drainNode,
  killNode,
];
