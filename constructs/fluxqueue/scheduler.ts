import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { CONFIG_FILE_NAME, PRIORITY_CLASS, SCHEDULER_NAME, SCHEDULER_SERVICE_ACCOUNT } from '../api/labels';
import { KubeObject } from '../kube-object';
import { type ComponentProps, objectMetadata, selectorLabels, Wave } from '../metadata';
import { ConfigurationFile } from './configuration';
import type { KubernetesVersion } from './kubernetes-version';
import {
  API_ACCESS_MOUNT,
  API_ACCESS_VOLUME,
  httpProbes,
  NO_SERVICE_LINKS,
  RESTRICTED,
  RUNTIME_USER,
  resources,
  restrictedPod,
  spread,
} from './pod';
import { SCHEDULER_REPOSITORY } from './pods/images';
import type { Pods } from './pods/pods';
import { SCHEDULER_LEASE } from './rbac';

const NAME = 'fluxqueue-scheduler';
const FOLDER = '/etc/kubernetes/scheduler';
const PORT = 10259;

export interface SchedulerProps extends ComponentProps {
  readonly kubernetesVersion: KubernetesVersion;
  readonly pods: Pods;
  /** Image of kube-scheduler. @default registry.k8s.io/kube-scheduler of kubernetesVersion */
  readonly image?: string;
}

/** A standard kube-scheduler with its own scheduler name, configured for pods that are pinned to one node. */
export class Scheduler extends Construct {
  constructor(scope: Construct, id: string, props: SchedulerProps) {
    super(scope, id);
    const { namespace, kubernetesVersion, pods } = props;
    const labels = selectorLabels('scheduler');
    const metadata = objectMetadata({ name: NAME, namespace, component: 'scheduler', wave: Wave.RUNTIME });
    const configuration = new ConfigurationFile(this, 'config', {
      prefix: NAME,
      namespace,
      component: 'scheduler',
      folder: FOLDER,
      settings: schedulerConfiguration(namespace),
    });
    new KubeObject(this, 'deployment', k8s.KubeDeployment, {
      metadata,
      spec: {
        replicas: pods.replicas('scheduler'),
        selector: { matchLabels: labels },
        template: pods.template('scheduler', {
          serviceAccountName: SCHEDULER_SERVICE_ACCOUNT,
          automountServiceAccountToken: false,
          ...NO_SERVICE_LINKS,
          priorityClassName: PRIORITY_CLASS,
          securityContext: restrictedPod(RUNTIME_USER),
          topologySpreadConstraints: spread('scheduler'),
          containers: [
            container(props.image ?? `${SCHEDULER_REPOSITORY}:v${kubernetesVersion}`, configuration),
          ],
          volumes: [API_ACCESS_VOLUME, configuration.volume],
        }),
      },
    });
    new KubeObject(this, 'budget', k8s.KubePodDisruptionBudget, {
      metadata,
      spec: pods.budget('scheduler'),
    });
  }
}

/** KubeSchedulerConfiguration, exported for its test. */
export function schedulerConfiguration(namespace: string): Record<string, unknown> {
  return {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    // The default of 50 queries per second would bind at most 50 pods per second.
    clientConnection: { qps: 1000, burst: 2000 },
    leaderElection: { leaderElect: true, resourceNamespace: namespace, resourceName: SCHEDULER_LEASE },
    profiles: [
      {
        schedulerName: SCHEDULER_NAME,
        // The pinned node affinity leaves one node, so scoring has no effect.
        plugins: { preScore: { disabled: [{ name: '*' }] }, score: { disabled: [{ name: '*' }] } },
      },
    ],
  };
}

function container(image: string, configuration: ConfigurationFile): k8s.Container {
  return {
    name: 'scheduler',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['kube-scheduler', `--config=${FOLDER}/${CONFIG_FILE_NAME}`, `--secure-port=${PORT}`],
    ports: [{ name: 'https', containerPort: PORT }],
    // Schedulers before 1.31 have no /readyz.
    ...httpProbes(PORT, 'HTTPS', '/healthz'),
    resources: resources({ cpu: '50m', memory: '128Mi', memoryLimit: '2Gi' }),
    securityContext: RESTRICTED,
    volumeMounts: [API_ACCESS_MOUNT, configuration.mount],
  };
}
