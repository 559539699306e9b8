/** The webhook role: the server with its certificate, probes and metrics. Any replica can answer a request. */

import { CONTROLLER_SERVICE_ACCOUNT } from '../../constructs/api/labels';
import { workloadKinds } from '../../constructs/api/workload-kinds';
import { webhookTrust } from '../admission/ca-trust';
import { readCertificateFiles, watchCertificateFiles } from '../admission/certificate-files';
import { rotateCertificates } from '../admission/certificate-rotation';
import { serviceNames } from '../admission/certificate-store';
import { startWebhook } from '../admission/server';
import type { Config } from '../config';
import { messageOf } from '../errors';
import type { TlsPair } from '../https/server';
import { createClient, type KubernetesClient } from '../kubernetes/client';
import { serveObservability } from '../observability/http';
import type { Logger } from '../observability/log';
import { createRegistry, webhookMetrics } from '../observability/metrics';
import { certificateExpiry, firstCertificate } from './first-certificate';
import type { Role } from './role';

/** The source of the certificate: files or a Secret. */
interface CertificateSource {
  readonly first: TlsPair;
  /** Calls back with every later certificate. */
  follow(onCertificate: (pair: TlsPair) => void): { stop(): Promise<void> | void };
}

/**
 * Answers probes first, then waits for a certificate as long as necessary, then answers admission requests.
 * @throws FluxqError FLUXQ_PORT_IN_USE, FLUXQ_KUBECONFIG, FLUXQ_CERTIFICATE_UNREADABLE, FLUXQ_CERTIFICATE_INVALID
 */
export async function startWebhookRole(config: Config, logger: Logger): Promise<Role> {
  const registry = createRegistry();
  const metrics = webhookMetrics(registry);
  let missing: readonly string[] = ['certificate'];
  const observability = await serveObservability({
    http: config.http,
    metrics: config.metrics,
    registry,
    notReady: () => missing,
  });
  const stops: (() => Promise<void> | void)[] = [() => observability.stop()];
  const stop = async () => {
    missing = ['stopping'];
    for (const step of stops.reverse()) await step();
  };
  try {
    const { host, port, schedulerName, secretNamespace, controllerUsers, gitOpsUsers, drainSeconds } =
      config.webhook;
    const controller = `system:serviceaccount:${secretNamespace}:${CONTROLLER_SERVICE_ACCOUNT}`;
    const source = await certificateSource(config, logger, stops);
    const server = await startWebhook({
      host,
      port,
      tls: source.first,
      admission: {
        schedulerName,
        controllerUsers: controllerUsers ?? [controller],
        gitOpsUsers,
        kinds: workloadKinds(config.workloads.kinds),
      },
      onRequest: (kind, outcome, seconds) => metrics.seconds.observe({ kind, outcome }, seconds),
      onError: (error) => logger.warn({ error: messageOf(error) }, 'answering an admission request failed'),
    });
    metrics.expiry.set(certificateExpiry(source.first));
    const following = source.follow((pair) => {
      server.setCertificate(pair);
      metrics.expiry.set(certificateExpiry(pair));
    });
    stops.push(
      () => server.stop(drainSeconds * 1000),
      () => following.stop(),
    );
    missing = [];
    logger.info({ port: server.port }, 'webhook started');
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop, failed: new Promise(() => undefined) };
}

async function certificateSource(
  config: Config,
  logger: Logger,
  stops: (() => void)[],
): Promise<CertificateSource> {
  const { certDir } = config.webhook;
  if (certDir !== undefined) return sourceFromFiles(certDir, logger);
  const { kubeconfig, context } = config.kubernetes;
  const client = createClient({
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    userAgent: 'fluxqueue-webhook',
  });
  stops.push(() => client.close());
  return sourceFromSecret(config, client, logger);
}

async function sourceFromFiles(directory: string, logger: Logger): Promise<CertificateSource> {
  const first = await readCertificateFiles(directory);
  const onError = (error: unknown) =>
    logger.warn(
      { error: messageOf(error) },
      'reading the new certificate failed, still serving the current one',
    );
  return {
    first,
    follow: (onCertificate) => watchCertificateFiles(first, { directory, onCertificate, onError }),
  };
}

async function sourceFromSecret(
  config: Config,
  client: KubernetesClient,
  logger: Logger,
): Promise<CertificateSource> {
  const { secretNamespace, secretName, serviceName, configurationName } = config.webhook;
  const names = serviceNames(serviceName, secretNamespace);
  const trust = webhookTrust(configurationName);
  const store = { client, namespace: secretNamespace, secretName, trust, names };
  const first = await firstCertificate(store, logger);
  return {
    first,
    follow: (onCertificate) => rotateCertificates(first, { ...store, onCertificate, logger }),
  };
}
