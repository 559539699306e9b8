/**
 * How pods come to more than their workload was granted where nothing can prevent it: an account that may resize pods in
 * place, a webhook of the cluster that adds a sidecar after admission, a second pod for a unit.
 */
import type { Pod } from '../../runtime/kubernetes/types';
import { coresOf } from '../invariants/pod-cores';
import type { Random } from './random';
import type { SimulatedApiserver } from './simulated-apiserver';
import { CORES } from './simulated-nodes';

interface EnlargementsOptions {
  readonly apiserver: SimulatedApiserver;
  readonly random: Random;
  readonly namespaces: readonly string[];
  /** Unix seconds of the cluster. */
  readonly now: () => number;
  readonly onChange: () => void;
}

const CONFIGURATIONS = 'mutatingwebhookconfigurations';
const WEBHOOK = {
  metadata: { name: 'sidecars' },
  webhooks: [{ rules: [{ apiGroups: [''], operations: ['CREATE'], resources: ['pods'] }] }],
};

export class Enlargements {
  /** uids of the workloads. */
  readonly uids = new Set<string>();
  /** When a webhook first made a pod larger than its template. Unix seconds. */
  injectedSince: number | undefined;
  private copies = 0;
  private comings = 0;
  private injects = false;

  constructor(private readonly options: EnlargementsOptions) {
    options.apiserver.podWebhook = (pod, isDryRun) => this.inject(pod, isDryRun);
  }

  act(): void {
    const { random } = this.options;
    const roll = random.between(1, 4);
    if (roll === 1) this.toggle();
    else if (roll === 2) this.copy();
    else this.resize();
  }

  /** No pod is made larger any more. */
  end(): void {
    if (this.injects) this.toggle();
  }

  /** The webhook comes or goes, with its configuration or, as one that decides by something else, without. */
  private toggle(): void {
    const { store } = this.options.apiserver;
    this.injects = !this.injects;
    if (!this.injects) store.remove(CONFIGURATIONS, WEBHOOK.metadata.name);
    else if (this.comings++ % 2 === 0) store.create(CONFIGURATIONS, WEBHOOK as never);
  }

  private resize(): void {
    const pod = this.choose();
    if (pod === undefined) return;
    const [first, ...others] = pod.spec.containers;
    const requests = { ...first!.resources?.requests, cpu: String(coresOf(pod) + 1) };
    const containers = [{ ...first!, resources: { ...first!.resources, requests } }, ...others];
    this.put({ ...pod, spec: { ...pod.spec, containers } });
  }

  private copy(): void {
    const pod = this.choose();
    if (pod?.metadata.ownerReferences === undefined) return;
    this.note(pod);
    const { name, namespace, labels, annotations, ownerReferences } = pod.metadata;
    const metadata = {
      name: `${name}-copy-${this.copies++}`,
      namespace,
      labels,
      annotations,
      ownerReferences,
    };
    const { nodeName: _, ...spec } = pod.spec;
    this.options.apiserver.store.create('pods', { metadata, spec, status: { phase: 'Pending' } } as never);
  }

  private inject(pod: Pod, isDryRun: boolean): Pod {
    const isOurs = this.options.namespaces.includes(pod.metadata.namespace ?? '');
    if (!this.injects || !isOurs || pod.metadata.ownerReferences === undefined || coresOf(pod) >= CORES)
      return pod;
    this.injectedSince ??= this.options.now();
    if (!isDryRun) this.note(pod);
    const sidecar = { name: 'sidecar', image: 'none', resources: { requests: { cpu: '1' } } };
    return { ...pod, spec: { ...pod.spec, containers: [...pod.spec.containers, sidecar] } };
  }

  /** A running pod that is smaller than a node. */
  private choose(): Pod | undefined {
    const { apiserver, random, namespaces } = this.options;
    return random.oneOf(
      apiserver.store
        .list<Pod>('pods')
        .filter(
          (pod) =>
            pod.status?.phase === 'Running' &&
            pod.metadata.deletionTimestamp === undefined &&
            namespaces.includes(pod.metadata.namespace ?? '') &&
            coresOf(pod) < CORES,
        ),
    );
  }

  private put(pod: Pod): void {
    this.note(pod);
    this.options.apiserver.store.put('pods', pod);
  }

  private note({ metadata }: Pod): void {
    this.uids.add(metadata.ownerReferences?.[0]?.uid ?? metadata.uid);
    this.options.onChange();
  }
}
