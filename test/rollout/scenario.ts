/**
 * Rolling updates of controller and webhook under a load of Jobs, on a real control plane and a real Postgres: the same version
 * again, back to the version before as `git revert` does, and forward again. Each step applies the manifests of its version with the
 * account of an engine, restarts a pod of the version that runs, migrates with its program, and replaces two controllers and two
 * webhooks one by one. Each pod starts with the ConfigMap that its version names, as the cluster has it then.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { parse } from 'yaml';
import { GITOPS_USERS } from '../../constructs/api/gitops-users';
import {
  CONTROLLER_SERVICE_ACCOUNT,
  NAMESPACE_LABEL,
  STACK_NAMESPACE,
  WEBHOOK_SERVICE_ACCOUNT,
} from '../../constructs/api/labels';
import type { ConfigInput } from '../../runtime/config';
import { jobs } from '../../runtime/kubernetes/paths';
import type { Job } from '../../runtime/kubernetes/types';
import type { KubeObject } from '../cluster/api';
import { type Cluster, startCluster } from '../cluster/cluster';
import type { StaticUser } from '../cluster/credentials';
import { freePorts } from '../cluster/ports';
import { type Postgres, startPostgres } from '../cluster/postgres';
import { RUNTIME_ROLE, runtimeUrl } from '../stack/runtime-role';
import { Deployment } from './deployment';
import { LOAD_NAMESPACE, Load } from './load';
import { currentRelease, type Release, releaseOf } from './release';
import { Service } from './service';

export interface Options {
  readonly perSecond: number;
  /** Commit of the version before. @default - only the same version again */
  readonly before?: string;
  readonly print: (line: string) => void;
}

interface StepResult {
  readonly step: string;
  readonly seconds: number;
  /** Jobs that the apiserver refused while the step ran. */
  readonly refused: number;
  /** Longest time without a grant, in seconds. */
  readonly gap: number;
}

export interface Result {
  readonly jobs: number;
  readonly steps: readonly StepResult[];
  readonly refused: number;
  /** Refused while pods of the version before ended, which may lack what this one has. */
  readonly refusedByBefore: number;
  readonly lost: number;
  readonly gap: number;
}

/** The step in which the pods of the version before end. */
const FORWARD = 'forward again';
/** Milliseconds of load before and after each step. */
const CALM_MS = 4000;
/** Jobs that do not end in this time, while no other one ends either, are lost. */
const IDLE_MS = 60_000;

/** A kustomize-controller is cluster administrator by a binding, which admission sees, not by a group, which it lets pass. */
const ENGINE: StaticUser = { name: GITOPS_USERS[0]!, groups: [], token: randomBytes(16).toString('hex') };
const ENGINE_RIGHTS: KubeObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'engine' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: ENGINE.name }],
};

export async function rollOut(options: Options): Promise<Result> {
  const service = await Service.create();
  const props = {
    admission: 'webhook',
    externalRuntime: { webhookUrl: `https://127.0.0.1:${service.port}` },
  } as const;
  const current = currentRelease(props);
  const before = options.before === undefined ? undefined : releaseOf(options.before, props);
  const [cluster, postgres] = await Promise.all([
    startCluster({
      nodes: 10,
      // Room for every Job of the load: a cluster that is full grants nothing, whoever leads.
      nodeShape: { cpu: '1000', memory: '4Ti', pods: 1000 },
      users: [ENGINE],
      objects: [ENGINE_RIGHTS, ...current.objects],
      progress: options.print,
    }),
    startPostgres({ own: true }),
  ]);
  try {
    return await new RollOut(cluster, postgres, service, options).play(current, before);
  } finally {
    await current.roles.stop();
    await before?.roles.stop();
    await Promise.all([cluster.stop(), postgres.stop()]);
    service.stop();
  }
}

class RollOut {
  private readonly controllers: Deployment;
  private readonly webhooks: Deployment;

  constructor(
    private readonly cluster: Cluster,
    private readonly postgres: Postgres,
    service: Service,
    private readonly options: Options,
  ) {
    const url = runtimeUrl(postgres.url);
    this.controllers = new Deployment(async (release) => {
      const config = await this.fileOf(release, CONTROLLER_SERVICE_ACCOUNT);
      return { role: await release.roles.startController(await url, config) };
    });
    this.webhooks = new Deployment(async (release) => {
      const config = await this.fileOf(release, WEBHOOK_SERVICE_ACCOUNT);
      const [port = 0] = await freePorts(1);
      const webhook = { ...config.webhook, host: '127.0.0.1', port };
      return { role: await release.roles.start('webhook', { ...config, webhook }), port };
    }, service);
  }

  /** What the kubelet mounts into a new pod of a Deployment, which has the name of its account, with what this machine needs. */
  private async fileOf({ configMapOf }: Release, account: string): Promise<ConfigInput> {
    const name = configMapOf(account);
    const path = `/api/v1/namespaces/${STACK_NAMESPACE}/configmaps/${name}`;
    const { data } = await this.cluster.get<{ data: Record<string, string> }>(path);
    const kubeconfig = await this.cluster.kubeconfigForServiceAccount(account, STACK_NAMESPACE);
    const given = parse(data['config.yaml']!) as ConfigInput;
    return { ...given, kubernetes: { kubeconfig }, database: { ...given.database, migrate: false } };
  }

  async play(current: Release, before: Release | undefined): Promise<Result> {
    await this.webhooks.create(current);
    await this.controllers.create(current);
    await this.untilAdmitted();
    const load = new Load(this.cluster, this.options.perSecond);
    const steps: StepResult[] = [];
    let running = current;
    await delay(CALM_MS);
    for (const [step, release] of [
      ['the same version again', current],
      ['back to the version before', before],
      [FORWARD, before === undefined ? undefined : current],
    ] as const)
      if (release !== undefined) {
        steps.push(await this.step(step, { running, release }, load));
        running = release;
      }
    await load.stop();
    const lost = await this.lost(load);
    const gap = Math.max(...steps.map((step) => step.gap));
    for (const { at, why } of load.refused.slice(0, 5)) this.options.print(`refused at ${at} s: ${why}`);
    const refusedByBefore = steps.find(({ step }) => step === FORWARD)?.refused ?? 0;
    const refused = load.refused.length - refusedByBefore;
    return { jobs: load.count, steps, refused, refusedByBefore, lost, gap };
  }

  private async step(
    step: string,
    { running, release }: Record<'running' | 'release', Release>,
    load: Load,
  ): Promise<StepResult> {
    const began = Date.now();
    const refused = load.refused.length;
    const say = (text: string) => this.options.print(`${step}: ${text}, ${load.count} Jobs`);
    await this.cluster.clientFor(ENGINE.token).apply([...release.objects]);
    say('manifests applied');
    await this.controllers.restart(running);
    await this.webhooks.restart(running);
    say(`pods of ${running.name} restarted`);
    const environment = { DATABASE_URL: this.postgres.url };
    await release.roles.once(['migrate', '--grant-to', RUNTIME_ROLE], environment);
    await this.controllers.roll(release);
    say('controllers replaced');
    await this.webhooks.roll(release);
    say('webhooks replaced');
    await delay(CALM_MS);
    const result = {
      step,
      seconds: round((Date.now() - began) / 1000),
      refused: load.refused.length - refused,
      gap: round(await this.longestGap(began, Date.now())),
    };
    this.options.print(`${step} (${release.name}): ${JSON.stringify(result)}`);
    return result;
  }

  private async untilAdmitted(): Promise<void> {
    const labels = { [NAMESPACE_LABEL]: 'true' };
    await this.cluster.apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: LOAD_NAMESPACE, labels },
    });
    const probe = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'probe' },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] } } },
    };
    await this.cluster.waitFor('admission by the webhook', async () => {
      const { status, text } = await this.cluster.api.send(
        'POST',
        `${jobs(LOAD_NAMESPACE)}?dryRun=All`,
        probe,
      );
      return status === 201 && (JSON.parse(text) as Job).spec.suspend === true;
    });
  }

  /** Accepted Jobs that are gone, or that do not end: a busy machine needs time, but it makes progress. */
  private async lost(load: Load): Promise<number> {
    let left = Number.POSITIVE_INFINITY;
    for (let progress = Date.now(); Date.now() - progress < IDLE_MS && left > 0; await delay(2000)) {
      const { length } = await load.unfinished();
      if (length < left) progress = Date.now();
      left = length;
    }
    if (left > 0) for (const name of (await load.unfinished()).slice(0, 5)) await this.describe(name);
    return left + (await load.missing());
  }

  /** What Kubernetes and the queue have of a Job that does not end. */
  private async describe(name: string): Promise<void> {
    for (const [kind, selector] of [
      ['job', `metadata.name=${name}`],
      ['fluxjob', `metadata.name=${name}-job`],
    ] as const) {
      const { stdout } = await this.cluster.kubectl([
        ...['get', kind, '--namespace', LOAD_NAMESPACE, '--field-selector', selector, '--output', 'yaml'],
      ]);
      this.options.print(`${name} does not end:\n${stdout}`);
    }
    const { stdout } = await this.cluster.kubectl([
      ...['get', 'pods', '--namespace', LOAD_NAMESPACE, '--selector', `job-name=${name}`, '--output', 'yaml'],
    ]);
    this.options.print(stdout);
  }

  /** Seconds between two grants, at most, as the tables have them. */
  private async longestGap(from: number, to: number): Promise<number> {
    const client = new Client({ connectionString: this.postgres.url });
    await client.connect();
    try {
      const { rows } = await client.query<{ ms: string }>(
        `SELECT extract(epoch FROM at) * 1000 AS ms FROM fluxqueue.events
         WHERE event = 'Allocated' AND at BETWEEN to_timestamp($1) AND to_timestamp($2) ORDER BY at`,
        [from / 1000, to / 1000],
      );
      const times = [from, ...rows.map(({ ms }) => Number(ms)), to];
      return Math.max(...times.slice(1).map((time, index) => time - times[index]!)) / 1000;
    } finally {
      await client.end();
    }
  }
}

const round = (value: number) => Math.round(value * 100) / 100;
