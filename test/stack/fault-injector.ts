/**
 * Faults at an exact call. A trap wraps the ports of a term (queue, Kubernetes
 * client, Fluxion) and springs at the n-th call of a kind: before its effect,
 * or after it and before its answer. Then either every port is dead (the
 * process was killed there) or only that answer is lost.
 */
import { lost, type Port, type PortCall, portThrough } from './term-ports';

export interface Fault {
  /** `queue.allocate`, `client.patch jobs`, `fluxion.match`. */
  readonly call: string;
  /** 1: the first one. */
  readonly nth: number;
  readonly when: 'before' | 'after';
  /** Whether the term dies there. */
  readonly crash: boolean;
}

export class FaultInjector {
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
  around<T extends object>(port: Port, target: T): T {
    return portThrough(port, target, (call) => this.make(call));
  }

  /** As if the process were killed: nothing gets through any more. */
  kill(): void {
    this.dead = true;
  }

  private async make(call: PortCall): Promise<unknown> {
    if (this.dead) throw lost(call);
    if (call.name !== this.fault.call || this.isSprung || ++this.seen < this.fault.nth) return call.effect();
    this.isSprung = true;
    if (this.fault.crash && this.fault.when === 'before') this.dead = true;
    try {
      if (this.fault.when === 'after') await call.effect();
    } finally {
      this.dead ||= this.fault.crash;
      this.spring();
    }
    throw lost(call);
  }
}
