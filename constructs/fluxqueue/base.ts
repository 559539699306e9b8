import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { KEEP, objectMetadata, type PartProps, Wave } from '../metadata';

/** PriorityClass of the stack's pods. */
export const PRIORITY_CLASS = 'fluxqueue';

/** The namespace of the stack and the priority of its pods. */
export class Base extends Construct {
  constructor(scope: Construct, id: string, { namespace }: PartProps) {
    super(scope, id);
    new k8s.KubeNamespace(this, 'namespace', {
      metadata: objectMetadata({
        name: namespace,
        component: 'base',
        wave: Wave.BASE,
        labels: {
          'pod-security.kubernetes.io/enforce': 'restricted',
          'pod-security.kubernetes.io/audit': 'restricted',
          'pod-security.kubernetes.io/warn': 'restricted',
        },
        annotations: KEEP,
      }),
    });
    // One of our own at the users' maximum: many clusters let system-cluster-critical into kube-system only.
    new k8s.KubePriorityClass(this, 'priority', {
      metadata: objectMetadata({ name: PRIORITY_CLASS, component: 'base', wave: Wave.BASE }),
      value: 1_000_000_000,
      globalDefault: false,
      description: 'Pods of fluxqueue itself: they start before the workloads that wait for them.',
    });
  }
}
