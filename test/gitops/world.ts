/** A control plane with the stack in one form of admission, the runtime, and the engines with their usual accounts. */
import { randomBytes } from 'node:crypto';
import { App } from 'cdk8s';
import { GITOPS_USERS } from '../../constructs/api/gitops-users';
import { defaultStack, type FluxQueueProps } from '../../constructs/fluxqueue';
import type { AdmissionForm } from '../../constructs/fluxqueue/admission/form';
import type { KubeObject } from '../cluster/api';
import { type Cluster, startCluster } from '../cluster/cluster';
import type { ClusterOptions } from '../cluster/cluster-options';
import type { StaticUser } from '../cluster/credentials';
import { freePorts } from '../cluster/ports';
import { startPostgres } from '../cluster/postgres';
import { Stack } from '../stack/stack';
import { Engine } from './engines';
import type { Findings } from './scenario';
import type { Engines } from './suite';
import { type Way, waysOf } from './ways';

const KUBERNETES_VERSION = '1.37.1';
/** One kustomize-controller, one application controller; both are cluster administrators as after their usual set-up. */
const account = (name: string): StaticUser => ({
  name,
  groups: ['system:masters'],
  token: randomBytes(16).toString('hex'),
});
const [fluxCd = '', , argoCd = ''] = GITOPS_USERS;
const FLUX_CD = account(fluxCd);
const ARGO_CD = account(argoCd);

export const CLUSTER: ClusterOptions = {
  nodes: 4,
  nodeShape: { cpu: '32', memory: '256Gi' },
  users: [FLUX_CD, ARGO_CD],
};

/** Room for every example at once: one that starts later would change between two looks of an engine. */
const ROOMY: ClusterOptions = { ...CLUSTER, nodes: 12, nodeShape: { cpu: '256', memory: '2Ti' } };

/** A volume for the database, which this cluster has no provisioner for. */
const VOLUME: KubeObject = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'database' },
  spec: { capacity: { storage: '20Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/none' } },
};

/** What Git has of the stack: a webhook can only be outside this cluster, whose pods run nothing. */
function stackInGit(props: FluxQueueProps, form: AdmissionForm): KubeObject[] {
  const app = new App();
  const { externalRuntime: _, ...inside } = props;
  defaultStack(app, { kubernetesVersion: KUBERNETES_VERSION, ...(form === 'policies' ? inside : props) });
  return app.charts.flatMap((chart) => chart.toJson() as KubeObject[]);
}

export class World {
  private constructor(
    readonly stack: Stack,
    readonly engines: Engines,
    private readonly git: readonly KubeObject[],
  ) {}

  get ways(): readonly Way[] {
    return waysOf(this.engines);
  }

  /** Starts a control plane too, which the stack stops. */
  static async start(form: AdmissionForm, progress: (line: string) => void): Promise<World> {
    const cluster = await startCluster({ ...ROOMY, progress });
    try {
      return await World.on(cluster, form, progress);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  static async on(cluster: Cluster, form: AdmissionForm, progress?: (line: string) => void): Promise<World> {
    const [port = 0] = form === 'webhook' ? await freePorts(1) : [];
    const props: FluxQueueProps = {
      admission: form,
      externalRuntime: form === 'webhook' ? { webhookUrl: `https://127.0.0.1:${port}` } : {},
    };
    const stack = new Stack(cluster, await startPostgres(), {
      props,
      config: { logLevel: 'warn' },
      ...(form === 'webhook' ? { webhookPort: port } : {}),
    });
    try {
      await stack.apply();
      await cluster.apply(VOLUME);
      await stack.startController();
      const flux = await Engine.start('flux', cluster.kubeconfigForUser(FLUX_CD), progress);
      const argo = await Engine.start('argo', cluster.kubeconfigForUser(ARGO_CD), progress);
      return new World(stack, { flux, argo }, stackInGit(props, form));
    } catch (error) {
      await stack.stop();
      throw error;
    }
  }

  /** The engine takes over the stack, and applies it again. */
  async applyStack(way: Way, findings: Findings): Promise<void> {
    findings.add('denied', named(way, await way.apply('stack', this.git, [])));
    findings.objects += this.git.length;
    findings.add('drift', named(way, await way.drift('stack', this.git)));
  }

  /** The stack leaves Git. What holds data stays; everything else goes. */
  async pruneStack(way: Way, findings: Findings): Promise<void> {
    findings.add('denied', named(way, await way.apply('stack', this.git, [])));
    const before = await this.survivors();
    // An empty Git is an accident to both engines, which do not prune for it.
    const left = this.git.filter(({ kind }) => kind === 'PriorityClass');
    findings.add('denied', named(way, await way.apply('stack', left, this.git)));
    const after = await this.survivors();
    findings.add(
      'lost',
      named(
        way,
        before.filter((object) => !after.includes(object)),
      ),
    );
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/fluxqueue-controller';
    const { status } = await this.stack.cluster.api.send('GET', role);
    if (status !== 404) findings.add('lost', named(way, [`the prune left ${role}: ${status}`]));
  }

  private async survivors(): Promise<readonly string[]> {
    const { cluster } = this.stack;
    const kept = this.git.filter(
      ({ metadata }) => metadata.annotations?.['kustomize.toolkit.fluxcd.io/prune'] === 'disabled',
    );
    const found = await Promise.all(
      kept.map(async ({ kind, metadata: { name, namespace } }) => {
        const path = PATHS[kind]?.(name!, namespace) ?? '';
        const { status, text } = await cluster.api.send('GET', path);
        const { metadata } =
          status === 200 ? (JSON.parse(text) as KubeObject) : { metadata: {} as KubeObject['metadata'] };
        return metadata.deletionTimestamp === undefined && status === 200
          ? [`${kind} ${name} ${metadata.uid}`]
          : [];
      }),
    );
    return found.flat();
  }

  async stop(): Promise<void> {
    await this.engines.flux.stop();
    await this.engines.argo.stop();
    await this.stack.stop();
  }
}

const PATHS: Readonly<Record<string, (name: string, namespace?: string) => string>> = {
  Namespace: (name) => `/api/v1/namespaces/${name}`,
  ConfigMap: (name, namespace) => `/api/v1/namespaces/${namespace}/configmaps/${name}`,
  Secret: (name, namespace) => `/api/v1/namespaces/${namespace}/secrets/${name}`,
  StatefulSet: (name, namespace) => `/apis/apps/v1/namespaces/${namespace}/statefulsets/${name}`,
  CustomResourceDefinition: (name) => `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`,
};

const named = (way: Way, texts: readonly string[]) => texts.map((text) => `${way.name}, the stack: ${text}`);
