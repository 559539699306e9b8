/** The reader role: serves the read API (docs/decisions/0042-read-api.md). Any replica can answer a request. */
import { apiServiceTrust } from '../admission/ca-trust';
import { rotateCertificates } from '../admission/certificate-rotation';
import { serviceNames } from '../admission/certificate-store';
import { systemTime } from '../clock';
import { type Config, databaseSource } from '../config';
import { messageOf } from '../errors';
import { createClient, type KubernetesClient } from '../kubernetes/client';
import { readDatabaseAccess } from '../kubernetes/secrets';
import { serveObservability } from '../observability/http';
import type { Logger } from '../observability/log';
import { createRegistry, readerMetrics } from '../observability/metrics';
import { openQueue } from '../queue/queue';
import type { Queue } from '../queue/store';
import { readResources } from '../reader/answers/index';
import { watchFrontProxy } from '../reader/front-proxy-watch';
import { OnDemand } from '../reader/on-demand';
import { type ReaderServer, startReaderServer } from '../reader/server';
import { certificateExpiry, firstCertificate } from './first-certificate';
import { readerDashboard } from './reader-dashboard';
import type { Role } from './role';

/**
 * Answers probes first, then waits for a certificate as long as necessary, then answers questions.
 * @throws FluxqError FLUXQ_PORT_IN_USE, FLUXQ_CONFIG_INVALID
 */
export async function startReader(config: Config, logger: Logger): Promise<Role> {
  databaseSource(config);
  const registry = createRegistry();
  let missing: readonly string[] = ['certificate'];
  const { http, metrics } = config;
  const probes = await serveObservability({ http, metrics, registry, notReady: () => missing });
  const stops: (() => Promise<void> | void)[] = [() => probes.stop()];
  // Ends a start that waits for the apiserver: a process that is told to end meanwhile must not wait, too.
  const starting = new AbortController();
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>();
  const started = serve(config, logger, readerMetrics(registry), { stops, signal: starting.signal }).then(
    (port) => {
      missing = [];
      logger.info({ port }, 'reader started');
    },
    (error: unknown) => {
      if (!starting.signal.aborted) fail(error instanceof Error ? error : new Error(messageOf(error)));
    },
  );
  const stop = async () => {
    if (missing.length > 0) starting.abort();
    missing = ['stopping'];
    await started;
    for (const step of stops.reverse()) await step();
  };
  return { stop, failed };
}

interface Life {
  /** Gets what ends each part; later parts end first. */
  readonly stops: (() => Promise<void> | void)[];
  /** Aborted when the role ends before it has started. */
  readonly signal: AbortSignal;
}

/** @throws FluxqError FLUXQ_PORT_IN_USE, FLUXQ_KUBECONFIG, FLUXQ_CERTIFICATE_INVALID */
async function serve(
  config: Config,
  logger: Logger,
  metrics: ReturnType<typeof readerMetrics>,
  { stops, signal }: Life,
): Promise<number> {
  const client = clientOf(config);
  stops.push(() => client.close());
  signal.addEventListener('abort', () => client.close());
  const queue = queueOnDemand(config, client, logger);
  stops.push(() => queue.stop());
  const options = { config, client, logger, time: systemTime, queue: () => queue.get() };
  const answers = readResources(options);
  stops.push(() => answers.stop());
  const { resources } = answers;
  const deadline = config.reader.deadlineSeconds * 1000;
  const dashboard = readerDashboard({ client, logger, resources, deadline });

  const { secretNamespace: namespace, secretName, serviceName, apiServiceName } = config.reader;
  const names = serviceNames(serviceName, namespace);
  const store = { client, namespace, secretName, trust: apiServiceTrust(apiServiceName), names };
  const first = await firstCertificate(store, logger, signal);
  let server: ReaderServer | undefined;
  const frontProxy = await watchFrontProxy({
    client,
    logger,
    signal,
    onChange: (proxy) => server?.setFrontProxy(proxy),
  });
  stops.push(() => frontProxy.stop());
  const { host, port, drainSeconds } = config.reader;
  server = await startReaderServer({
    host,
    port,
    tls: first,
    client,
    frontProxy: frontProxy.proxy(),
    resources,
    proxies: { dashboards: dashboard.handle },
    deadline,
    onRequest: (resource, code, seconds) => metrics.seconds.observe({ resource, code }, seconds),
    onError: (error) => logger.warn({ err: error, error: messageOf(error) }, 'answering a request failed'),
  });
  const started = server;
  metrics.expiry.set(certificateExpiry(first));
  const onCertificate = (pair: typeof first) => {
    started.setCertificate(pair);
    metrics.expiry.set(certificateExpiry(pair));
  };
  const rotation = rotateCertificates(first, { ...store, onCertificate, logger });
  stops.push(
    () => started.stop(drainSeconds * 1000),
    () => rotation.stop(),
    () => dashboard.stop(),
  );
  return started.port;
}

function clientOf({ kubernetes: { kubeconfig, context } }: Config): KubernetesClient {
  return createClient({
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    userAgent: 'fluxqueue-reader',
  });
}

/** The queue's tables, which this role can only read. */
function queueOnDemand(config: Config, client: KubernetesClient, logger: Logger): OnDemand<Queue> {
  const source = databaseSource(config);
  const queue = new OnDemand<Queue>({
    open: async () =>
      openQueue({
        ...('url' in source ? source : await readDatabaseAccess(client, source)),
        readOnly: true,
        logger,
        units: config.units,
        halfLifeSeconds: config.fairShare.halfLifeSeconds,
        // The Secret is read again with the next question.
        onLoginRefused: () => queue.drop(),
      }),
    close: (opened) => opened.close(),
    clock: systemTime.clock,
    onError: (error) => logger.warn({ error: messageOf(error) }, 'closing the database failed'),
  });
  return queue;
}
