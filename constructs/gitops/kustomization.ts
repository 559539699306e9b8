import { ApiObject, type Duration } from 'cdk8s';
import { Construct } from 'constructs';
import { PropsError } from '../api/errors';
import { checkByRules, type PropRules, required } from '../api/prop-rules';
import { duration, listOf, oneOf, text } from '../api/rules';
import { fluxCdHealth } from './health';

export interface FluxCdKustomizationProps {
  /** Name of the Kustomization. @default - the id of the construct */
  readonly name?: string;
  /** Namespace of the Kustomization. @default flux-system */
  readonly namespace?: string;
  /** Folder of the source with the manifests, e.g. `./dist`. */
  readonly path: string;
  /** Name of the GitRepository or OCIRepository in the same namespace. @default flux-system */
  readonly source?: string;
  /** Kind of the source. @default GitRepository */
  readonly sourceKind?: 'GitRepository' | 'OCIRepository' | 'Bucket';
  /** Names of Kustomizations that must be ready first, e.g. that of the stack. @default [] */
  readonly dependsOn?: readonly string[];
  /** ServiceAccount as which Flux CD applies the manifests, in the namespace of the Kustomization. @default - that of kustomize-controller */
  readonly serviceAccountName?: string;
  /**
   * Time for which Flux CD waits until all objects are ready, in whole seconds. A Job is ready when it is complete, or held.
   * @default - it does not wait
   */
  readonly wait?: Duration;
}

const RULES: PropRules<FluxCdKustomizationProps> = {
  name: text,
  namespace: text,
  path: required(text),
  source: text,
  sourceKind: oneOf('GitRepository', 'OCIRepository', 'Bucket'),
  dependsOn: listOf(text),
  serviceAccountName: text,
  wait: duration,
};

/** A Kustomization of Flux CD with the health checks of the queue's objects. */
export class FluxCdKustomization extends Construct {
  /** Name of the Kustomization, for `dependsOn`. */
  readonly name: string;

  /** @throws PropsError for a wrong prop, such as a wait of less than a second */
  constructor(scope: Construct, id: string, props: FluxCdKustomizationProps) {
    super(scope, id);
    checkByRules('FluxCdKustomization', props, RULES);
    this.name = props.name ?? id;
    const { namespace = 'flux-system', path, source = 'flux-system', sourceKind, dependsOn = [] } = props;
    new ApiObject(this, 'Resource', {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name: this.name, namespace },
      spec: {
        interval: '10m',
        path,
        prune: true,
        sourceRef: { kind: sourceKind ?? 'GitRepository', name: source },
        ...(dependsOn.length === 0 ? {} : { dependsOn: dependsOn.map((name) => ({ name })) }),
        ...(props.serviceAccountName === undefined ? {} : { serviceAccountName: props.serviceAccountName }),
        ...waiting(props.wait),
        healthCheckExprs: fluxCdHealth(),
      },
    });
  }
}

function waiting(wait: Duration | undefined): object {
  if (wait === undefined) return {};
  const seconds = wait.toMilliseconds() / 1000;
  if (seconds >= 1 && Number.isInteger(seconds)) return { wait: true, timeout: `${seconds}s` };
  throw new PropsError(
    'FluxCdKustomization.wait',
    'must be a whole number of seconds, 1 or more',
    `${seconds} s`,
    'give Duration.minutes(…)',
  );
}
