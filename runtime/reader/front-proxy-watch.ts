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
  /** @param proxy undefined if the cluster has none */
  readonly onChange: (proxy: FrontProxy | undefined) => void;
}

/** Resolves when the ConfigMap was read. What cannot be read is logged, and the last proxy stays. */
export async function watchFrontProxy(
  options: FrontProxyWatchOptions,
): Promise<{ readonly proxy: () => FrontProxy | undefined; stop(): void }> {
  const { client, logger } = options;
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
  await reflector.synced;
  if (proxy === undefined)
    logger.warn({}, 'the apiserver has no proxy for other API servers (--requestheader-client-ca-file)');
  return { proxy: () => proxy, stop: () => reflector.stop() };
}
