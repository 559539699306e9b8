/** Springs right after the first call of one kind has taken effect, before its caller hears of it. */
import { lost, type Port, type PortCall, portThrough } from '../stack/term-ports';
import type { CallName, Deed } from './fault-points';

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
  around<T extends object>(port: Port, target: T): T {
    return portThrough(port, target, (call) => this.make(call));
  }

  /** As if the process were killed: nothing gets through any more, and nothing is heard. */
  kill(): void {
    this.dead = true;
  }

  private async make(call: PortCall): Promise<unknown> {
    if (this.dead) throw lost(call);
    const answer = await call.effect();
    if (call.name === this.call && !this.isSprung) {
      this.isSprung = true;
      if (this.deed === 'kill') this.dead = true;
      await this.act();
      this.spring();
      if (this.deed in PORT_OF && PORT_OF[this.deed as keyof typeof PORT_OF] === call.port) throw lost(call);
    }
    if (this.dead) throw lost(call);
    return answer;
  }
}
