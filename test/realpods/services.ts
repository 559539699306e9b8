/** A pod of a StatefulSet is deleted on a real kubelet, which reports its end before the object goes. */
import type { KubeObject } from '../cluster/cluster';
import { BASE_IMAGE } from './image-names';
import { jobManifest, TEAM } from './load';
import type { Run } from './scenario';

const NAME = 'service';
const PODS = `/api/v1/namespaces/${TEAM}/pods`;

type ServicePod = KubeObject & {
  metadata: { uid: string; deletionTimestamp?: string };
  status?: { phase?: string };
};

/** The pod that is made again runs before a Job that came later, whatever the first one exits with. */
export async function replaceServicePod({ load, rig, stack, figures, say }: Run): Promise<void> {
  const { cluster } = rig;
  const node = rig.nodes[0]!.name;
  const { status } = await cluster.get<{ status: { allocatable: { cpu: string } } }>(`/api/v1/nodes/${node}`);
  // Two such pods do not fit the node.
  const cpu = `${Math.floor(milliCores(status.allocatable.cpu) * 0.55)}m`;
  const running = async () => {
    const { items } = await cluster.get<{ items: ServicePod[] }>(`${PODS}?labelSelector=app%3D${NAME}`);
    return items.find(
      (pod) => pod.metadata.deletionTimestamp === undefined && pod.status?.phase === 'Running',
    );
  };
  await cluster.create(service(node, cpu));
  let { uid } = (await cluster.waitFor('the service to run', running)).metadata;
  const later = onNode(jobManifest('later', { cpu }), node);
  await cluster.create(later);
  await cluster.waitFor(
    'the later Job to be queued',
    async () => (await load.fluxJob('later')).phase === 'Waiting',
  );
  for (const round of ['first', 'second']) {
    await stack.kubectl('delete', 'pod', `${NAME}-0`, '-n', TEAM, '--wait=false');
    const next = await cluster.waitFor(`the ${round} replacement to run`, async () => {
      const pod = await running();
      return pod?.metadata.uid === uid ? undefined : pod;
    });
    ({ uid } = next.metadata);
    const { phase } = await load.fluxJob('later');
    if (phase !== 'Waiting')
      figures.problems.push(`a lost pod of a StatefulSet came back after a later Job (${phase})`);
  }
  await stack.kubectl('delete', 'statefulset', NAME, '-n', TEAM);
  await load.waitFinished(['later'], 60_000);
  say('a deleted pod of a StatefulSet came back in its place, twice');
}

function milliCores(cpu: string): number {
  return cpu.endsWith('m') ? Number(cpu.slice(0, -1)) : Number(cpu) * 1000;
}

function service(node: string, cpu: string): KubeObject {
  const labels = { app: NAME };
  const container = {
    name: 'main',
    image: BASE_IMAGE,
    imagePullPolicy: 'IfNotPresent',
    // It ends well when it is told to.
    command: ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 0.2; done'],
    resources: { requests: { cpu, memory: '32Mi' } },
  };
  const spec = { nodeSelector: { 'kubernetes.io/hostname': node }, containers: [container] };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: NAME, namespace: TEAM },
    spec: {
      serviceName: NAME,
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec },
    },
  };
}

function onNode(job: KubeObject, node: string): KubeObject {
  const { spec } = job as KubeObject & { spec: { template: { spec: object } } };
  const pod = { ...spec.template.spec, nodeSelector: { 'kubernetes.io/hostname': node } };
  return { ...job, spec: { ...spec, template: { ...spec.template, spec: pod } } } as KubeObject;
}
