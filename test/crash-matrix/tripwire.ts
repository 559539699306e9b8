/** Springs right after the first call of one kind has taken effect, before its caller hears of it. */
import { FluxqError } from '../../runtime/errors';
import { resourceOf } from '../../runtime/kubernetes/paths';
import type { CallName, Deed } from './points';

const PORT_OF = { database: 'queue', apiserver: 'client', fluxion: 'fluxion' } as const;

export class Tripwire {
  readonly sprung: Promise<void>;
  isSprung = false;
  private dead = false;
  private spring: () => void = () => undefined;

  /** @param act undefined: it never springs */
  constructor(
    private readonly call: CallName | undefined,
    private readonly deed: Deed,
    private readonly act: () => void | Promise<void>,
  ) {
    this.sprung = new Promise((resolve) => {
      this.spring = resolve;
    });
  }

  /** The same port with the wire in it. */
  around<T extends object>(port: 'queue' | 'client' | 'fluxion', target: T): T {
    return new Proxy(target, {
      get: (object, key) => {
        const value: unknown = Reflect.get(object, key, object);
        if (typeof value !== 'function') return value;
        if (key === 'close' || key === 'watch') return value.bind(object);
        return (...args: unknown[]) =>
          this.run(port, nameOf(port, String(key), args), () => Reflect.apply(value, object, args));
      },
    });
  }

  /** As if the process were killed: nothing gets through any more, and nothing is heard. */
  kill(): void {
    this.dead = true;
  }

  private async run(port: string, name: string, effect: () => Promise<unknown>): Promise<unknown> {
    if (this.dead) throw lost(name);
    const answer = await effect();
    if (name === this.call && !this.isSprung) {
      this.isSprung = true;
      if (this.deed === 'kill') this.dead = true;
      await this.act();
      this.spring();
      if (this.deed in PORT_OF && PORT_OF[this.deed as keyof typeof PORT_OF] === port) throw lost(name);
    }
    if (this.dead) throw lost(name);
    return answer;
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
