/**
 * Places of the stack's requests in the apiserver's priority and fairness. Without them they share the level `workload-low` with
 * every ServiceAccount of the cluster: a busy operator there delays a renewal of the Lease, and the leader steps down. The levels
 * are those that every apiserver has; renewals wait for nobody but other renewals. The reader stays where the others are: no
 * number of questions may cost the controller.
 */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import {
  CONTROLLER_SERVICE_ACCOUNT,
  SCHEDULER_SERVICE_ACCOUNT,
  WEBHOOK_SERVICE_ACCOUNT,
} from '../api/labels';
import { type ComponentProps, objectMetadata, Wave } from '../metadata';

/** Lower numbers are compared first. Those of Kubernetes' own ServiceAccounts are 200 (leases) and 900. */
const LEASES = 190;
const REQUESTS = 890;

export class FlowSchemas extends Construct {
  constructor(scope: Construct, id: string, props: ComponentProps) {
    super(scope, id);
    const { namespace } = props;
    const subjects = (...names: string[]) =>
      names.map((name) => ({ kind: 'ServiceAccount', serviceAccount: { name, namespace } }));
    this.add('fluxqueue-leases', 'leader-election', LEASES, {
      subjects: subjects(CONTROLLER_SERVICE_ACCOUNT, SCHEDULER_SERVICE_ACCOUNT),
      resourceRules: [
        {
          apiGroups: ['coordination.k8s.io'],
          resources: ['leases'],
          verbs: ['get', 'create', 'update', 'list', 'watch'],
          namespaces: [namespace],
        },
      ],
    });
    this.add('fluxqueue-requests', 'workload-high', REQUESTS, {
      subjects: subjects(CONTROLLER_SERVICE_ACCOUNT, SCHEDULER_SERVICE_ACCOUNT, WEBHOOK_SERVICE_ACCOUNT),
      resourceRules: [
        { apiGroups: ['*'], resources: ['*'], verbs: ['*'], namespaces: ['*'], clusterScope: true },
      ],
    });
  }

  private add(name: string, level: string, matchingPrecedence: number, rule: object): void {
    new ApiObject(this, name, {
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      kind: 'FlowSchema',
      metadata: objectMetadata({ name, component: 'base', wave: Wave.RIGHTS }),
      spec: {
        priorityLevelConfiguration: { name: level },
        matchingPrecedence,
        distinguisherMethod: { type: 'ByUser' },
        rules: [rule],
      },
    });
  }
}
