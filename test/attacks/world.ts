/** The live stack with the namespaces, users and objects that the attacks need. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import {
  APPLYING_LABEL,
  CONTROLLER_SERVICE_ACCOUNT,
  NAMESPACE_LABEL,
  STACK_NAMESPACE,
} from '../../constructs/api/labels';
import { createClient } from '../../runtime/kubernetes/client';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import type { KubeObject } from '../cluster/api';
import { type Cluster, startCluster } from '../cluster/cluster';
import type { ClusterOptions } from '../cluster/cluster-options';
import { freePorts } from '../cluster/ports';
import { startPostgres } from '../cluster/postgres';
import { Stack } from '../stack/stack';
import { type Act, ALPHA, BETA, type Form, PLAIN, ROLES, type Role, STRICT } from './attack';
import { OVER, STARTED_JOB, STARTED_PODS } from './corpus-reach';
import { create, job, ownedBy, patch, pathTo } from './objects';
import { RIGHTS } from './rights';
import { MINICLUSTERS, OBJECTS } from './world-objects';

export interface Reply {
  readonly status: number;
  readonly object: KubeObject;
  /** Of a refusal; otherwise empty. */
  readonly message: string;
}

/** As most clusters, it allows privileged pods; else the apiserver itself would refuse what the policies have to. */
export const CLUSTER: ClusterOptions = {
  nodes: 4,
  nodeShape: { cpu: '8', memory: '64Gi' },
  apiserverArgs: ['--allow-privileged=true'],
};

export class World {
  private readonly agent: Agent;
  private readonly uids = new Map<string, string>();

  /** Starts a control plane too, which the stack stops. */
  static async start(form: Form, progress: (line: string) => void): Promise<World> {
    const emulated = form === 'older' ? { emulatedVersion: OLDER } : {};
    const cluster = await startCluster({ ...CLUSTER, ...emulated, progress });
    try {
      return await World.on(cluster, form);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  static async on(cluster: Cluster, form: Form): Promise<World> {
    const [readerPort = 0, port = 0] = await freePorts(2);
    // Without them every Job of Kueue is refused.
    const kueueUsers = ['system:serviceaccount:kueue-system:kueue-controller-manager'];
    const externalRuntime = {
      webhookUrl: `https://127.0.0.1:${port}`,
      reader: { host: 'localhost', port: readerPort },
    };
    const stack = new Stack(cluster, await startPostgres(), {
      props:
        form === 'older'
          ? { admission: 'webhook', kubernetesVersion: OLDER, externalRuntime, kueueUsers }
          : { admission: form, externalRuntime, kueueUsers },
      config: { logLevel: 'warn' },
      ...(form === 'policies' ? {} : { webhookPort: port }),
    });
    try {
      await stack.apply();
      const world = new World(stack, form);
      await world.fill();
      return world;
    } catch (error) {
      await stack.stop();
      throw error;
    }
  }

  private constructor(
    readonly stack: Stack,
    private readonly form: Form,
  ) {
    this.agent = new Agent({ ca: readFileSync(stack.cluster.caFile), keepAlive: true });
  }

  async stop(): Promise<void> {
    this.agent.destroy();
    await this.stack.stop();
  }

  /** The object, which the stack makes. */
  untilExists(path: string): Promise<KubeObject> {
    return this.stack.cluster.waitFor(path, () => this.stack.cluster.get<KubeObject>(path));
  }

  /** Sends a request as a role. If it is not to be stored, admission and RBAC answer as if it were. */
  send(
    role: Role,
    { verb, path, query = '', body, type }: Act,
    store: 'stored' | 'dry' = 'dry',
  ): Promise<Reply> {
    const { cluster } = this.stack;
    const { user, groups } = ROLES[role];
    const dry = store === 'stored' || verb === 'GET' || path.endsWith('/exec') ? '' : 'dryRun=All';
    const manager = type === 'application/apply-patch+yaml' ? '&fieldManager=attack&force=true' : '';
    // A deletion with a body has its options there, and not in the query.
    const options = verb === 'DELETE' && dry !== '' ? { dryRun: ['All'] } : {};
    const payload = body === undefined ? '' : this.withUids(JSON.stringify(sent(body, options)));
    const headers = {
      authorization: `Bearer ${cluster.token('admin')}`,
      'content-type': type ?? (verb === 'PATCH' ? 'application/merge-patch+json' : 'application/json'),
      'content-length': Buffer.byteLength(payload),
      'impersonate-user': user,
      'impersonate-group': groups,
    };
    const url = new URL(`${path}?${dry}${manager}&${query}`, cluster.server);
    return new Promise((resolve, reject) => {
      const outgoing = request(url, { method: verb, agent: this.agent, headers }, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () =>
          resolve(replyOf(incoming.statusCode ?? 0, Buffer.concat(chunks).toString())),
        );
      });
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }

  /**
   * Waits for the objects of a MiniCluster: the controller creates them under the very policies that stop the attacks. Then
   * it gets the label that the controller's token can set, because without it every attack would be refused at once.
   */
  private async open(name: string, namespace: string): Promise<void> {
    const { cluster } = this.stack;
    const path = pathTo('MiniCluster', namespace, name);
    await cluster.waitFor(`the Job of ${name}`, async () => {
      const { status } = await cluster.get<KubeObject>(path);
      const found = await cluster.api.send('GET', pathTo('Job', namespace, name));
      const parallelism = found.status === 200 ? (JSON.parse(found.text) as Job).spec.parallelism : undefined;
      // That of a suspended cluster is created without pods and changed then.
      if (parallelism !== 1) throw new Error(`parallelism ${parallelism}, ${JSON.stringify(status)}`);
      return true;
    });
    const { metadata } = await cluster.waitFor(`the end of the writes for ${name}`, async () => {
      const stored = await cluster.get<KubeObject>(path);
      return stored.metadata.labels?.[APPLYING_LABEL] === undefined && stored;
    });
    this.uids.set(name, metadata.uid!);
  }

  /** Pods of a Job that no controller runs, as the Job controller makes them. */
  private async startPods(): Promise<void> {
    const { object } = await this.send('editor', STARTED_JOB, 'stored');
    this.uids.set('started', object.metadata.uid!);
    for (const act of STARTED_PODS) {
      const { status, message } = await this.send('job controller', act, 'stored');
      if (status !== 201) throw new Error(message);
    }
    const { cluster } = this.stack;
    // A pod without a node is deleted at once, whatever the request says.
    for (const { body } of STARTED_PODS) {
      const path = pathTo('Pod', ALPHA, (body as KubeObject).metadata.name);
      await cluster.waitFor(`the node of ${path}`, async () => {
        const { spec } = await cluster.get<Pod>(path);
        return spec.nodeName !== undefined;
      });
    }
    await cluster.request('PATCH', pathTo('Pod', ALPHA, OVER, 'status'), { status: { phase: 'Succeeded' } });
  }

  /** As a kubelet that can resize containers: Kubernetes refuses it where no status has their amounts. */
  private async allowResize(): Promise<void> {
    const { cluster } = this.stack;
    const at = pathTo('Pod', ALPHA, 'released');
    const { spec, status } = await cluster.waitFor('the start of the Pod released', async () => {
      const pod = await cluster.get<Pod>(at);
      return pod.status?.phase === 'Running' && pod;
    });
    const [{ resources }] = spec.containers as readonly [Pod['spec']['containers'][number]];
    const containerStatuses = status?.containerStatuses?.map((each) => ({ ...each, resources }));
    await cluster.request('PATCH', `${at}/status`, { status: { containerStatuses } });
  }

  /** A Job that its user has suspended is held, and waits. */
  private async pause(): Promise<void> {
    const { status, message } = await this.send(
      'editor',
      patch('Job', 'paused', { spec: { suspend: true } }),
      'stored',
    );
    if (status >= 300) throw new Error(message);
    const { cluster } = this.stack;
    await cluster.waitFor('the Job paused to give its nodes back', async () => {
      const { status: told } = await cluster.get<KubeObject & { status?: { phase?: string } }>(
        pathTo('FluxJob', ALPHA, 'paused-job'),
      );
      return told?.phase === 'Waiting';
    });
  }

  private async label(name: string, namespace: string): Promise<void> {
    const { cluster } = this.stack;
    const labels = { [APPLYING_LABEL]: 'true' };
    const client = createClient({
      kubeconfig: await cluster.kubeconfigForServiceAccount(CONTROLLER_SERVICE_ACCOUNT, STACK_NAMESPACE),
    });
    await client.patch(pathTo('MiniCluster', namespace, name), { metadata: { labels } }, 'merge');
    client.close();
  }

  private withUids(text: string): string {
    return text.replaceAll(/"\$([a-z]+)"/g, (_, name: string) => JSON.stringify(this.uids.get(name) ?? name));
  }

  private async fill(): Promise<void> {
    const { cluster } = this.stack;
    await this.stack.namespace(ALPHA);
    await this.stack.namespace(BETA);
    await this.stack.namespace(PLAIN, false);
    await this.stack.namespace(STRICT, false);
    await cluster.request('PATCH', `/api/v1/namespaces/${STRICT}`, {
      metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted', [NAMESPACE_LABEL]: 'true' } },
    });
    await cluster.apply(RIGHTS);
    await this.stack.startController({ fluxion: { address: 'embedded' } });
    await this.stack.startReader();
    await cluster.create(OBJECTS);
    await this.startPods();
    for (const { metadata } of MINICLUSTERS) await this.open(metadata.name!, metadata.namespace!);
    await cluster.waitFor('the comparison with MiniClusters', async () => {
      // The controller may write once more, and remove the label after that.
      for (const { metadata } of MINICLUSTERS.filter(({ metadata: { name = '' } }) =>
        this.form === 'older' ? ALONE.includes(name) : true,
      ))
        await this.label(metadata.name!, metadata.namespace!);
      const { status, message } = await this.send('controller token', WANTED_JOB);
      if (status !== 409) throw new Error(message);
      return true;
    });
    await cluster.waitFor('the queue of a FluxSetup', async () => {
      const { status } = await cluster.get<KubeObject>(pathTo('FluxSetup', BETA, 'team'));
      return (status as { observedGeneration?: number } | undefined)?.observedGeneration !== undefined;
    });
    for (const name of ['running', 'indexed', 'paused'])
      await cluster.waitFor(`the release of the Job ${name}`, async () => {
        const { spec } = await cluster.get<Job>(pathTo('Job', ALPHA, name));
        return spec.suspend === false;
      });
    await this.allowResize();
    await this.pause();
    await cluster.waitFor('the record of a Job', () => cluster.get(pathTo('FluxJob', ALPHA, 'waiting-job')));
  }
}

/** The oldest version that the apiserver of the tests can emulate; it has no MutatingAdmissionPolicy in v1. */
const OLDER = '1.34';
/** There, only one MiniCluster of a namespace can have the label. */
const ALONE: readonly string[] = ['tame', 'other'];

/** Admission accepts it, and then it exists already: so what differs from it in an attack is why that is refused. */
const WANTED_JOB = create('Job', 'tame', { metadata: ownedBy('tame'), spec: job() });

interface Answer extends KubeObject {
  readonly message?: string;
  /** One cause for each policy that refuses. */
  readonly details?: { readonly causes?: readonly { readonly message?: string }[] };
}

const sent = (body: object, options: object) => (Array.isArray(body) ? body : { ...body, ...options });

function replyOf(status: number, text: string): Reply {
  const object = (text.startsWith('{') ? JSON.parse(text) : { message: text }) as Answer;
  const causes = object.details?.causes?.map(({ message }) => message) ?? [];
  return { status, object, message: status >= 400 ? [object.message, ...causes].join('; ') : '' };
}
