/** Follows what the apiserver says of its proxy, in its ConfigMap. */
import { messageOf } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { configMaps } from '../kubernetes/paths';
import { Reflector } from '../kubernetes/reflector';
import type { KubernetesObject } from '../kubernetes/types';
import type { Logger } from '../observability/log';
import { FRONT_PROXY_CONFIG_MAP, FRONT_PROXY_NAMESPACE, type FrontProxy, frontProxyOf } from './front-proxy';

interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface FrontProxyWatchOptions {
  readonly client: KubernetesClient;
  readonly logger: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Ends the wait for the ConfigMap. */
  readonly signal: AbortSignal;
  /** @param proxy undefined if the cluster has none */
  readonly onChange: (proxy: FrontProxy | undefined) => void;
}

/**
 * Resolves when the ConfigMap was read. What cannot be read is logged, and the last proxy stays.
 * @throws when the signal is aborted before
 */
export async function watchFrontProxy(
  options: FrontProxyWatchOptions,
): Promise<{ readonly proxy: () => FrontProxy | undefined; stop(): void }> {
  const { client, logger, signal } = options;
  let proxy: FrontProxy | undefined;
  const take = (data: ConfigMap['data']) => {
    try {
      proxy = frontProxyOf(data);
      options.onChange(proxy);
    } catch (error) {
      logger.warn(
        { error: messageOf(error) },
        'the settings of the front proxy are not valid, keeping the last',
      );
    }
  };
  const reflector = new Reflector<ConfigMap>({
    client,
    logger,
    path: configMaps(FRONT_PROXY_NAMESPACE),
    fieldSelector: `metadata.name=${FRONT_PROXY_CONFIG_MAP}`,
    onChange: (_, now) => take(now?.data),
  });
  reflector.start();
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve());
    if (signal.aborted) resolve();
  });
  await Promise.race([reflector.synced, aborted]);
  if (signal.aborted) reflector.stop();
  signal.throwIfAborted();
  if (proxy === undefined)
    logger.warn({}, 'the apiserver has no proxy for other API servers (--requestheader-client-ca-file)');
  return { proxy: () => proxy, stop: () => reflector.stop() };
}
