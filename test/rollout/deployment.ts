/** The pods of a Deployment with two replicas, as processes: replaced one by one, a new one first. */
import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '../cluster/wait';
import type { RoleProcess } from '../stack/roles';
import type { Release } from './release';
import type { Service } from './service';

/** Time for which a Service sends connections to a pod that has begun to end; kube-proxy needs about that. */
const PROPAGATION_MS = 1000;
const REPLICAS = 2;

interface Pod {
  readonly role: RoleProcess;
  /** Port behind the Service. */
  readonly port?: number;
}

export class Deployment {
  private pods: Pod[] = [];

  constructor(
    private readonly start: (release: Release) => Promise<Pod>,
    private readonly service?: Service,
  ) {}

  async create(release: Release): Promise<void> {
    for (let i = 0; i < REPLICAS; i++) this.pods.push(await this.ready(release));
  }

  /** Replaces every pod: maxSurge 1, maxUnavailable 0. */
  async roll(release: Release): Promise<void> {
    const old = this.pods;
    this.pods = [];
    for (const pod of old) {
      this.pods.push(await this.ready(release));
      await this.end(pod);
    }
  }

  /** One pod of the version that runs ends, and comes again while the manifests of another one are applied. */
  async restart(release: Release): Promise<void> {
    const [pod, ...others] = this.pods;
    this.pods = [...others, await this.ready(release)];
    await this.end(pod!);
  }

  private async ready(release: Release): Promise<Pod> {
    const pod = await this.start(release);
    await waitFor('a new pod to be ready', () => pod.role.isReady());
    if (pod.port !== undefined) this.service?.add(pod.port);
    return pod;
  }

  /** The signal and the removal from the Service begin together; the removal takes its time. */
  private async end({ role, port }: Pod): Promise<void> {
    const ended = role.stop();
    if (port !== undefined) {
      await delay(PROPAGATION_MS);
      this.service?.remove(port);
    }
    await ended;
  }
}
