import type { k8s } from 'cdk8s-plus-28';
import { roleCommand } from '../images';
import type { Configuration } from './configuration';
import { CONFIG_FILE } from './configuration';
import { httpProbes, RESTRICTED, resources } from './pod';

const FOLDER = '/run/fluxion';
/** The controller uses ports 8080 and 9464 in the same pod. */
const PROBE_PORT = 8081;
export const FLUXION_METRICS_PORT = 9465;

/** Address of the sidecar for the controller: a Unix socket in a volume of the pod needs no TLS and no port. */
export const FLUXION_SOCKET = `unix:${FOLDER}/fluxion.sock`;

export const SOCKET_VOLUME: k8s.Volume = { name: 'fluxion', emptyDir: {} };
export const SOCKET_MOUNT: k8s.VolumeMount = { name: 'fluxion', mountPath: FOLDER };

export interface FluxionProps {
  readonly image: string;
  readonly configuration: Configuration;
}

/**
 * The Fluxion service as sidecar of a controller. It is an ordinary container instead of a restartable init container:
 * the controller rebuilds the resource graph after each restart of Fluxion, so the start order does not matter.
 */
export function fluxionSidecar({ image, configuration }: FluxionProps): k8s.Container {
  return {
    name: 'fluxion',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: roleCommand('fluxion', '--config', CONFIG_FILE),
    env: [
      { name: 'FLUXQUEUE_http_port', value: String(PROBE_PORT) },
      { name: 'FLUXQUEUE_metrics_port', value: String(FLUXION_METRICS_PORT) },
    ],
    ports: [
      { name: 'fluxion-probe', containerPort: PROBE_PORT },
      { name: 'fluxion-metrics', containerPort: FLUXION_METRICS_PORT },
    ],
    ...httpProbes(PROBE_PORT),
    resources: resources({ cpu: '50m', memory: '256Mi', memoryLimit: '4Gi' }),
    securityContext: RESTRICTED,
    volumeMounts: [configuration.mount, SOCKET_MOUNT],
  };
}
