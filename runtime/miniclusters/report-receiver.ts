/**
 * Receives the reports of lead brokers, from the first MiniCluster that asks for it until the term ends. The certificate is
 * made by each leader: the pods get its CA and its addresses with the configuration of their brokers, which every new
 * leader applies again (docs/decisions/0032-what-runs-inside.md).
 */
import { z } from 'zod';
import { COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import type { ReportContact } from '../../constructs/minicluster/index';
import { isDue, makeCertificate, type ServingCertificate } from '../admission/certificates';
import { messageOf } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import type { Pod } from '../kubernetes/types';
import type { Logger } from '../observability/log';
import type { ReportSettings } from '../report-settings';
import {
  type Answer,
  ownAddresses,
  type ReportRequest,
  type ReportServer,
  startReportServer,
} from './report-server';
import { type PodIdentity, ReportTokens } from './report-tokens';
import type { FluxNumbers, Reports } from './reports';

export interface ReportReceiverOptions {
  readonly client: Pick<KubernetesClient, 'create'>;
  readonly settings: ReportSettings;
  readonly reports: Reports;
  /** The uid of the MiniCluster with this key, and the uid of its Job or StatefulSet. */
  readonly ownersOf: (key: string) => { readonly cluster: string; readonly workload: string } | undefined;
  /** The pod of this key, as the watch last delivered it. */
  readonly podOf: (key: string) => Pod | undefined;
  /** Other numbers arrived for the MiniCluster with this key. */
  readonly onChange: (key: string) => void;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Unix seconds. */
  readonly now: () => number;
}

/** Host name in the certificate, which no DNS needs to know. */
const HOST = 'fluxqueue-reports';
const PATH = /^\/v1\/namespaces\/([-a-z0-9]+)\/miniclusters\/([-a-z0-9]+)$/;

const count = z
  .int()
  .min(0)
  .max(2 ** 53 - 1);
const states = z.strictObject({ free: count, allocated: count, down: count });
const numbers = z.strictObject({
  jobs: z.strictObject({ pending: count, running: count, done: count, failed: count }),
  resources: z.strictObject({ nodes: states, cores: states, gpus: states }),
});

interface Serving {
  readonly server: ReportServer;
  certificate: ServingCertificate;
}

export class ReportReceiver {
  private readonly tokens: ReportTokens;
  private serving: Promise<Serving> | undefined;
  private stopped = false;

  constructor(private readonly options: ReportReceiverOptions) {
    this.tokens = new ReportTokens(options.client, options.now);
  }

  /** How the lead broker of this MiniCluster reaches this process; undefined, with a warning, if it cannot. */
  async contactOf(namespace: string, name: string): Promise<ReportContact | undefined> {
    const { settings, logger, now } = this.options;
    if (this.stopped) return undefined;
    this.serving ??= this.start();
    try {
      const serving = await this.serving;
      if (isDue(serving.certificate, [HOST], new Date(now() * 1000))) {
        serving.certificate = await this.certificate();
        serving.server.setCertificate(serving.certificate);
      }
      const hosts = settings.addresses ?? ownAddresses();
      return {
        addresses: hosts.map((host) => `${host.includes(':') ? `[${host}]` : host}:${serving.server.port}`),
        host: HOST,
        ca: serving.certificate.bundle,
        path: `/v1/namespaces/${namespace}/miniclusters/${name}`,
        every: settings.everySeconds,
      };
    } catch (error) {
      // The next reconcile tries again; the cluster itself needs no reports.
      this.serving = undefined;
      logger.warn({ error: messageOf(error) }, 'cannot receive reports of MiniClusters');
      return undefined;
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    const serving = await this.serving?.catch(() => undefined);
    await serving?.server.stop();
  }

  private async start(): Promise<Serving> {
    const { settings, logger, now } = this.options;
    const { host, port } = settings;
    const certificate = await this.certificate();
    const server = await startReportServer({
      ...(host !== undefined && { host }),
      port,
      tls: certificate,
      now,
      answer: (request) => this.receive(request),
      onError: (error) => logger.warn({ error: messageOf(error) }, 'a report of a MiniCluster failed'),
    });
    logger.info({ port: server.port }, 'receiving reports of MiniClusters');
    return { server, certificate };
  }

  private certificate(): Promise<ServingCertificate> {
    return makeCertificate({ names: [HOST], now: new Date(this.options.now() * 1000) });
  }

  private async receive({ path, token, body }: ReportRequest): Promise<Answer> {
    const [, namespace, name] = PATH.exec(path) ?? [];
    if (namespace === undefined || name === undefined) return { status: 404, problem: 'path not found' };
    const found = parse(body);
    if (found === undefined) return { status: 400, problem: 'must be the numbers of jobs and resources' };
    const pod = await this.tokens.podOf(token);
    if (pod === undefined) return { status: 401, problem: 'the apiserver does not accept the token' };
    const key = `${namespace}/${name}`;
    const cluster = this.clusterLedBy(pod, key);
    if (cluster === undefined) return { status: 403, problem: `the pod is not the lead broker of ${key}` };
    const { reports, onChange } = this.options;
    if (reports.record(cluster, found)) onChange(key);
    return { status: 204 };
  }

  /** The uid of the MiniCluster with this key, if this pod has its lead broker. */
  private clusterLedBy({ namespace, name, uid }: PodIdentity, key: string): string | undefined {
    const { ownersOf, podOf } = this.options;
    const owners = ownersOf(key);
    const pod = podOf(`${namespace}/${name}`);
    if (owners === undefined || pod?.metadata.uid !== uid) return undefined;
    const { ownerReferences = [], annotations } = pod.metadata;
    // The pods of a StatefulSet have their index in their name only.
    const isFirst =
      annotations?.[COMPLETION_INDEX_ANNOTATION] === '0' || `${namespace}/${name}` === `${key}-0`;
    const isOwned = ownerReferences.some(
      (owner) => owner.uid === owners.workload && owner.controller === true,
    );
    return isFirst && isOwned ? owners.cluster : undefined;
  }
}

function parse(body: string): FluxNumbers | undefined {
  try {
    return numbers.safeParse(JSON.parse(body)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
