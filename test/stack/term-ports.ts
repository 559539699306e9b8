/** The ports of a term (queue, Kubernetes client, Fluxion), with a test between the term and the world. */
import { FluxqError } from '../../runtime/errors';
import { resourceOf } from '../../runtime/kubernetes/paths';

export const PORTS = ['queue', 'client', 'fluxion'] as const;
export type Port = (typeof PORTS)[number];

/** A call that a term makes. */
export interface PortCall {
  readonly port: Port;
  readonly method: string;
  /** `queue.allocate`, `client.patch jobs`, `fluxion.match`. */
  readonly name: string;
  readonly effect: () => Promise<unknown>;
}

const WITHOUT_ANSWER: ReadonlySet<PropertyKey> = new Set(['close', 'watch', 'onViewAsked', 'onViewStored']);

/**
 * The same port, whose calls are made by `make`.
 * @param untouched what goes straight through
 */
export function portThrough<T extends object>(
  port: Port,
  target: T,
  make: (call: PortCall) => Promise<unknown>,
  untouched = WITHOUT_ANSWER,
): T {
  return new Proxy(target, {
    get: (object, key) => {
      const value: unknown = Reflect.get(object, key, object);
      if (typeof value !== 'function') return value;
      if (untouched.has(key)) return value.bind(object);
      const method = String(key);
      return (...args: unknown[]) =>
        make({
          port,
          method,
          name: nameOf(port, method, args),
          effect: () => Reflect.apply(value, object, args),
        });
    },
  });
}

function nameOf(port: Port, method: string, [path]: unknown[]): string {
  return port === 'client' ? `client.${method} ${resourceOf(String(path))}` : `${port}.${method}`;
}

/** As each port says it when there is no answer. */
export function lost({ port, name }: PortCall): FluxqError {
  const codes = {
    queue: 'FLUXQ_DATABASE_DOWN',
    client: 'FLUXQ_KUBERNETES_UNREACHABLE',
    fluxion: 'FLUXQ_FLUXION_IN_DOUBT',
  } as const;
  return new FluxqError(codes[port], `no answer to ${name}`, { retryable: true });
}
