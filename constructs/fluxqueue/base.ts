import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { PRIORITY_CLASS } from '../api/labels';
import { KubeObject } from '../kube-object';
import { type ComponentProps, KEEP, objectMetadata, Wave } from '../metadata';

/** Namespace of the stack and PriorityClass of its pods. */
export class Base extends Construct {
  constructor(scope: Construct, id: string, { namespace }: ComponentProps) {
    super(scope, id);
    new KubeObject(this, 'namespace', k8s.KubeNamespace, {
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
    // The highest value for users: many clusters restrict system-cluster-critical to kube-system.
    new KubeObject(this, 'priority', k8s.KubePriorityClass, {
      metadata: objectMetadata({ name: PRIORITY_CLASS, component: 'base', wave: Wave.BASE }),
      value: 1_000_000_000,
      globalDefault: false,
      description: 'Pods of the fluxqueue stack: they start before the workloads of its queues.',
    });
  }
}
