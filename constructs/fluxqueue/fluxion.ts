import { k8s } from 'cdk8s-plus-28';
import { PropsError } from '../api/errors';
import { LIBRARY_UNITS } from '../api/library-size';
import { HISTORY_POLICIES } from '../api/policies';
import { STACK_DEFAULTS } from '../api/queue-defaults';
import { DEFAULT_IMAGES, roleCommand } from '../images';
import type { Configuration } from './configuration';
import { CONFIG_FILE } from './configuration';
import { httpProbes, RESTRICTED, resources } from './pod';
import type { FluxQueueProps } from './props';

const FOLDER = '/run/fluxion';
/** The controller uses ports 8080 and 9464 in the same pod. */
const PROBE_PORT = 8081;
export const FLUXION_METRICS_PORT = 9465;

/** Address of the sidecar for the controller: a Unix socket in a volume of the pod needs no TLS and no port. */
const FLUXION_SOCKET = `unix:${FOLDER}/fluxion.sock`;

export const SOCKET_VOLUME: k8s.Volume = {
  name: 'fluxion',
  emptyDir: { sizeLimit: k8s.Quantity.fromString('16Mi') },
};
export const SOCKET_MOUNT: k8s.VolumeMount = { name: 'fluxion', mountPath: FOLDER };

type FluxionChoice = Pick<
  FluxQueueProps,
  'fluxion' | 'fluxionEngine' | 'fluxionImage' | 'runtimeImage' | 'matchPolicy'
>;

/** Settings of the matcher, for the controller and its sidecar alike: both have to know the engine. */
export function fluxionSettings({ fluxion, fluxionEngine = 'embedded', matchPolicy }: FluxionChoice) {
  return {
    address: fluxion === 'embedded' ? 'embedded' : FLUXION_SOCKET,
    listen: FLUXION_SOCKET,
    engine: fluxionEngine,
    policy: matchPolicy ?? STACK_DEFAULTS.matchPolicy,
  };
}

/** Only flux-sched's library needs another image than the runtime. */
export function fluxionImage({ fluxionEngine, fluxionImage: image, runtimeImage }: FluxionChoice): string {
  if (image !== undefined) return image;
  return fluxionEngine === 'library' ? DEFAULT_IMAGES.fluxion : (runtimeImage ?? DEFAULT_IMAGES.runtime);
}

/** @throws PropsError for a policy that the library does not keep */
export function checkFluxion({ matchPolicy, fluxionEngine }: FluxionChoice): void {
  if (fluxionEngine === 'library' && matchPolicy !== undefined && HISTORY_POLICIES.includes(matchPolicy))
    throw new PropsError(
      'FluxQueue.matchPolicy',
      "chooses by earlier grants, which flux-sched's library does not keep when time moves",
      matchPolicy,
      "choose another policy, or fluxionEngine: 'embedded'",
    );
}

/** The number of nodes is not known at synth, so it is always said. `node --disable-warning=FLUXQ_LIBRARY_SIZE` hides it. */
export function warnOfLibrary({ fluxionEngine }: FluxionChoice): void {
  if (fluxionEngine !== 'library') return;
  process.emitWarning(
    `FluxQueue.fluxionEngine: flux-sched's library keeps up with about ${LIBRARY_UNITS.toLocaleString('en')} units (400 nodes of 64 cores and 8 GPUs); the embedded engine gives the same answers on larger clusters`,
    { type: 'FluxQueueWarning', code: 'FLUXQ_LIBRARY_SIZE' },
  );
}

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
