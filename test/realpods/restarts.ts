/** Counts the container restarts that the test did not cause. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ContainerStatus, DeployedStack, RealPod } from './stack';

const EVERY_MS = 500;

export class RestartCounter {
  private readonly seen = new Map<string, { readonly label: string; readonly count: number }>();
  private readonly caused = new Map<string, number>();
  private readonly stopping = new AbortController();
  private readonly watching: Promise<void>;

  constructor(private readonly stack: DeployedStack) {
    this.watching = this.watch();
  }

  /** Registers that the test causes the next restart of this container. */
  expect(pod: RealPod, container: string): void {
    const key = `${pod.metadata.uid}/${container}`;
    this.caused.set(key, (this.caused.get(key) ?? 0) + 1);
  }

  /** Reads the pods a last time and returns the number of restarts per container that the test did not cause. */
  async finish(): Promise<readonly { readonly container: string; readonly count: number }[]> {
    this.stopping.abort();
    await this.watching;
    return [...this.seen]
      .map(([key, { label, count }]) => ({ container: label, count: count - (this.caused.get(key) ?? 0) }))
      .filter(({ count }) => count > 0);
  }

  private async watch(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      await delay(EVERY_MS);
      for (const pod of await this.stack.pods()) this.look(pod);
    }
  }

  private look(pod: RealPod): void {
    for (const { name, restartCount } of containersOf(pod)) {
      const key = `${pod.metadata.uid}/${name}`;
      const before = this.seen.get(key)?.count ?? 0;
      this.seen.set(key, { label: `${pod.metadata.name}/${name}`, count: Math.max(before, restartCount) });
    }
  }
}

const containersOf = ({ status }: RealPod): readonly ContainerStatus[] => [
  ...(status.initContainerStatuses ?? []),
  ...(status.containerStatuses ?? []),
];
