/**
 * Triggers a fault right after the first call of one kind, since it was armed, has taken effect, and before its caller
 * gets the answer.
 */
import { lost, type Port, type PortCall, portThrough } from '../stack/term-ports';
import type { CallName, Fault } from './fault-points';

const PORT_OF = { database: 'queue', apiserver: 'client', fluxion: 'fluxion' } as const;

export class FaultTrigger {
  readonly triggered: Promise<void>;
  isTriggered = false;
  private killed = false;
  private armed = false;
  private resolveTriggered: () => void = () => undefined;

  /**
   * @param call undefined for no fault at all
   * @param inject called after the call, before its answer is returned
   */
  constructor(
    private readonly call: CallName | undefined,
    private readonly fault: Fault,
    private readonly inject: () => void | Promise<void>,
  ) {
    this.triggered = new Promise((resolve) => {
      this.resolveTriggered = resolve;
    });
  }

  /** From now on the fault may come. */
  arm(): void {
    this.armed = true;
  }

  /** Wraps a port. */
  wrap<T extends object>(port: Port, target: T): T {
    return portThrough(port, target, this.make);
  }

  /** Simulates a killed process: no further call takes effect, and no answer arrives. */
  kill(): void {
    this.killed = true;
  }

  readonly make = async (call: PortCall): Promise<unknown> => {
    if (this.killed) throw lost(call);
    const answer = await call.effect();
    if (call.name === this.call && this.armed && !this.isTriggered) {
      this.isTriggered = true;
      if (this.fault === 'kill') this.killed = true;
      await this.inject();
      this.resolveTriggered();
      if (this.fault in PORT_OF && PORT_OF[this.fault as keyof typeof PORT_OF] === call.port)
        throw lost(call);
    }
    if (this.killed) throw lost(call);
    return answer;
  };
}
