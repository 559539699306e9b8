/**
 * Faults at an exact call. A trap wraps the ports of a term (queue, Kubernetes
 * client, Fluxion) and springs at the n-th call of a kind: before its effect,
 * or after it and before its answer. Then either every port is dead (the
 * process was killed there) or only that answer is lost.
 */
import { FluxqError } from '../../runtime/errors';
import { resourceOf } from '../../runtime/kubernetes/paths';

export interface Fault {
  /** `queue.allocate`, `client.patch jobs`, `fluxion.match`. */
  readonly call: string;
  /** 1: the first one. */
  readonly nth: number;
  readonly when: 'before' | 'after';
  /** Whether the term dies there. */
  readonly crash: boolean;
}

export class Trap {
  readonly sprung: Promise<void>;
  isSprung = false;
  private spring: () => void = () => undefined;
  private seen = 0;
  private dead = false;

  constructor(private readonly fault: Fault) {
    this.sprung = new Promise((resolve) => {
      this.spring = resolve;
    });
  }

  /** The same port with the trap in it. */
  around<T extends object>(name: 'queue' | 'client' | 'fluxion', port: T): T {
    return new Proxy(port, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function') return value;
        // Not calls with an answer.
        if (key === 'close' || key === 'watch') return value.bind(target);
        return (...args: unknown[]) =>
          this.call(nameOf(name, String(key), args), () => Reflect.apply(value, target, args));
      },
    });
  }

  /** As if the process were killed: nothing gets through any more. */
  kill(): void {
    this.dead = true;
  }

  private async call(name: string, run: () => Promise<unknown>): Promise<unknown> {
    if (this.dead) throw lost(name);
    if (name !== this.fault.call || this.isSprung || ++this.seen < this.fault.nth) return run();
    this.isSprung = true;
    if (this.fault.crash && this.fault.when === 'before') this.dead = true;
    try {
      if (this.fault.when === 'after') await run();
    } finally {
      this.dead ||= this.fault.crash;
      this.spring();
    }
    throw lost(name);
  }
}

function nameOf(port: string, method: string, [path]: unknown[]): string {
  return port === 'client' ? `client.${method} ${resourceOf(String(path))}` : `${port}.${method}`;
}

/** As each port says it when there is no answer. */
function lost(call: string): FluxqError {
  const codes = {
    queue: 'FLUXQ_DATABASE_DOWN',
    client: 'FLUXQ_KUBERNETES_UNREACHABLE',
    fluxion: 'FLUXQ_FLUXION_IN_DOUBT',
  } as const;
  const port = call.split('.')[0] as keyof typeof codes;
  return new FluxqError(codes[port], `no answer to ${call}`, { retryable: true });
}
