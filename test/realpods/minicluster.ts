/** The step with a MiniCluster. */
import { messageOf } from '../../runtime/errors';
import type { KubeObject } from '../cluster/cluster';
import { FAKE } from './flux';
import { FLUX_IMAGE, REAL_FLUX_IMAGE } from './image-names';
import { TEAM } from './load';
import type { Run } from './scenario';
import type { RealPod } from './stack';

const NAME = 'hello';
const SIZE = 2;
/** Selects the pod of the lead broker. */
const LEAD = `batch.kubernetes.io/job-name=${NAME},batch.kubernetes.io/job-completion-index=0`;

/**
 * A MiniCluster on two nodes. Its pods run the real entrypoint with a real certificate, and the Flux of FLUX_PREFIX or
 * a substitute for it.
 */
export async function runMiniCluster(run: Run): Promise<void> {
  const { rig, figures, say, stack } = run;
  await rig.cluster.create(miniCluster(figures.flux === FAKE ? FLUX_IMAGE : REAL_FLUX_IMAGE));
  try {
    await check(run, await waitFinished(run));
  } catch (error) {
    throw new Error(`MiniCluster ${NAME}: ${messageOf(error)}\n${await leadLog(run)}`, { cause: error });
  }
  await stack.kubectl('delete', 'minicluster', NAME, '-n', TEAM, '--timeout=60s');
  await rig.cluster.waitFor('all objects of the MiniCluster to be deleted', async () => {
    const left = await stack.kubectl('get', 'job,service,secret,configmap', '-n', TEAM, '-o', 'name');
    return !left.includes(`/${NAME}`);
  });
  const flux =
    figures.flux === FAKE ? 'a substitute for flux, because FLUX_PREFIX is not set' : `Flux ${figures.flux}`;
  say(`a MiniCluster of ${SIZE} brokers ran with ${flux}, and is deleted`);
}

function miniCluster(image: string): KubeObject {
  const container = {
    image,
    command: 'hostname',
    resources: { requests: { cpu: '1' }, limits: { cpu: '1' } },
  };
  return {
    apiVersion: 'flux-framework.org/v1alpha2',
    kind: 'MiniCluster',
    metadata: { name: NAME, namespace: TEAM },
    spec: { size: SIZE, tasks: SIZE, flux: { container: { disable: true } }, containers: [container] },
  };
}

/** Returns the nodes on which its pods ran. They are read while it runs, because its end deletes the workers. */
async function waitFinished({ rig, load }: Run): Promise<string[]> {
  const path = `/apis/flux-framework.org/v1alpha2/namespaces/${TEAM}/miniclusters/${NAME}`;
  const nodes = new Set<string>();
  await rig.cluster.waitFor(
    'the MiniCluster to finish',
    async () => {
      for (const node of await load.nodesOfPods(NAME)) nodes.add(node);
      const { status } = await rig.cluster.get<{ status?: { phase?: string; result?: string } }>(path);
      if (status?.result !== undefined && status.result !== 'Succeeded') {
        throw new Error(`the result is ${status.result}`);
      }
      return status?.phase === 'Finished';
    },
    { timeoutMs: 120_000 },
  );
  await load.waitFinished([NAME], 30_000);
  // A pod without a node has the name ''.
  return [...nodes].filter((node) => node !== '').sort();
}

/** Checks the nodes, the exit code and, with a real Flux, the output of one task of each broker. */
async function check(run: Run, nodes: readonly string[]): Promise<void> {
  const { figures, load } = run;
  const granted = (await load.finishedFluxJob(NAME)).allocation?.map(({ node }) => node).sort() ?? [];
  if (granted.length !== SIZE || granted.join() !== nodes.join()) {
    throw new Error(`it was granted ${granted} and ran on ${nodes}`);
  }
  const codes = (await leadPod(run)).status.containerStatuses?.map(
    ({ state }) => (state?.terminated as { exitCode?: number } | undefined)?.exitCode,
  );
  if (codes?.join() !== '0') throw new Error(`the lead broker exited with ${codes}`);
  if (figures.flux === FAKE) return;
  const hosts = (await leadLog(run)).split('\n').filter((line) => /^hello-\d+$/.test(line));
  if (hosts.sort().join() !== 'hello-0,hello-1') throw new Error(`its tasks ran on the brokers ${hosts}`);
}

async function leadPod({ rig }: Run): Promise<RealPod> {
  const path = `/api/v1/namespaces/${TEAM}/pods?labelSelector=${encodeURIComponent(LEAD)}`;
  const [pod] = (await rig.cluster.get<{ items: RealPod[] }>(path)).items;
  if (pod === undefined) throw new Error('the lead broker has no pod');
  return pod;
}

/** Returns the log of the lead broker, or why there is none. */
async function leadLog({ rig }: Run): Promise<string> {
  const { stdout, stderr } = await rig.cluster.kubectl(['logs', '-n', TEAM, '-l', LEAD, '--tail=100']);
  return `${stdout}${stderr}`;
}
