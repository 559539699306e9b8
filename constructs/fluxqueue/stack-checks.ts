/** Checks of the props of a stack that more than one component depends on. */
import { Lazy, type Size, SizeRoundingBehavior } from 'cdk8s';
import type { Construct } from 'constructs';
import { PropsError } from '../api/errors';
import { checkByRules, propProblems, propsError, requireProps } from '../api/prop-rules';
import { given, hasLazy, produced } from '../lazy';
import { checkPositive, checkQueue } from './default-queue';
import { checkFluxion } from './fluxion';
import { checkInterval } from './monitoring';
import { checkNamespaceName } from './place';
import { type Absence, checkPods } from './pods/checks';
import type { PodsProps } from './pods/props';
import { FLUX_QUEUE_RULES } from './prop-rules';
import type { FluxQueueProps } from './props';

/** What the choice of objects and their texts depend on has to be known when the stack is made. */
const KNOWN_AT_ONCE = [
  'namespace',
  'cluster',
  'kubernetesVersion',
  'admission',
  'clusterWide',
  'excludedNamespaces',
  'gitOpsUsers',
  'kueueUsers',
  'workloadKinds',
  'maxGracePeriod',
  'database',
  'fluxion',
  'fluxionEngine',
  'scheduler',
  'miniClusters',
  'readApi',
  'userMinPriority',
  'userMaxPriority',
  'networkPolicies',
  'apiserverPorts',
  'apiserverCidrs',
  'monitoringNamespace',
  'externalRuntime',
  'monitoring',
  'verticalPodAutoscalers',
  'flowSchemas',
  'webhookCertificate',
  'images',
] as const satisfies readonly (keyof FluxQueueProps)[];

/**
 * The props that are given, of which all that is not lazy has the right kind; checkProps says whether they fit together.
 * @throws PropsError
 */
export function checkedProps(props: FluxQueueProps): FluxQueueProps {
  requireProps('FluxQueue', props);
  checkLazy(props);
  const wrong = propProblems(props, FLUX_QUEUE_RULES).find(
    ({ path }) => !hasLazy(props[path.split(/[.[]/)[0] as keyof FluxQueueProps]),
  );
  if (wrong !== undefined) throw propsError('FluxQueue', wrong);
  return given(props);
}

/** @throws PropsError for a lazy value of a prop that must be known at once */
function checkLazy(props: FluxQueueProps): void {
  const lazy = [
    ...KNOWN_AT_ONCE.filter((name) => hasLazy(props[name])),
    ...(['labels', 'annotations', 'pods'] as const).filter((name) => isLazy(props[name])),
    ...Object.entries(props.pods ?? {}).flatMap(([name, value]) => (isLazy(value) ? [`pods.${name}`] : [])),
  ];
  for (const name of lazy)
    throw new PropsError(
      `FluxQueue.${name}`,
      'cannot be lazy, because the choice of objects depends on it',
      undefined,
      'give the value itself; single values inside of labels, annotations and pods can be lazy',
    );
}

function isLazy(value: unknown): boolean {
  return value instanceof Lazy;
}

/** Checks props now or, if some are lazy, at synth. @throws PropsError */
export function checkWhenKnown(
  stack: Construct,
  props: FluxQueueProps,
  check: (known: FluxQueueProps) => void,
): void {
  if (!hasLazy(props)) {
    check(props);
    return;
  }
  stack.node.addValidation({
    validate: () => {
      try {
        check(produced(props));
        return [];
      } catch (error) {
        if (error instanceof PropsError) return [error.message];
        throw error;
      }
    },
  });
}

/**
 * @param hasWebhook whether admission is by webhook
 * @param absence why the stack has no pods of a component
 * @throws PropsError
 */
export function checkProps(
  props: FluxQueueProps,
  hasWebhook: boolean,
  absence: (component: keyof PodsProps) => Absence,
): void {
  checkByRules('FluxQueue', props, FLUX_QUEUE_RULES);
  checkQueue(props);
  checkPositive('FluxQueue.coreUnitMillis', props.coreUnitMillis);
  checkMemoryUnit(props.memoryUnit);
  checkFluxion(props);
  checkMonitoring(props);
  checkOperators(props, hasWebhook);
  checkPods(props.pods ?? {}, absence);
  const { excludedNamespaces = [], monitoringNamespace } = props;
  for (const name of excludedNamespaces) checkNamespaceName('FluxQueue.excludedNamespaces', name);
  if (monitoringNamespace !== undefined)
    checkNamespaceName('FluxQueue.monitoringNamespace', monitoringNamespace);
}

function checkMemoryUnit(size: Size | undefined): void {
  const mebibytes = size?.toMebibytes({ rounding: SizeRoundingBehavior.NONE }) ?? 1;
  if (Number.isInteger(mebibytes) && mebibytes >= 1) return;
  throw new PropsError(
    'FluxQueue.memoryUnit',
    'must be a whole number of MiB, 1 or more',
    `${mebibytes} MiB`,
    'give Size.mebibytes(…)',
  );
}

/** Objects for other operators, which the stack must have pods for. */
function checkOperators(props: FluxQueueProps, hasWebhook: boolean): void {
  const { monitoring, monitoringNamespace, webhookCertificate, externalRuntime, apiserverCidrs, readApi } =
    props;
  const names = [
    'monitoring',
    'verticalPodAutoscalers',
    'webhookCertificate',
    'flowSchemas',
    'apiserverPorts',
    'apiserverCidrs',
  ] as const;
  const given = names.find((name) => props[name] !== undefined);
  if (externalRuntime !== undefined && given !== undefined)
    throw new PropsError(
      `FluxQueue.${given}`,
      'has no effect, because externalRuntime leaves out the pods',
      undefined,
      'remove one of the two',
    );
  if (monitoring !== undefined) checkInterval(monitoring);
  if (monitoring !== undefined && monitoringNamespace === undefined)
    throw new PropsError(
      'FluxQueue.monitoring',
      'requires monitoringNamespace, because the metrics are on loopback without it',
      undefined,
      'give the namespace of Prometheus',
    );
  if (apiserverCidrs !== undefined && !hasWebhook && readApi === false)
    throw new PropsError(
      'FluxQueue.apiserverCidrs',
      'has no effect, because the apiserver calls neither a webhook nor the read API',
      undefined,
      'remove it',
    );
  if (webhookCertificate !== undefined && !hasWebhook)
    throw new PropsError(
      'FluxQueue.webhookCertificate',
      'requires admission by webhook',
      undefined,
      "remove it, or give admission: 'webhook'",
    );
}

function checkMonitoring({ monitoringNamespace, networkPolicies }: FluxQueueProps): void {
  if (monitoringNamespace === undefined || networkPolicies !== false) return;
  throw new PropsError(
    'FluxQueue.monitoringNamespace',
    'requires networkPolicies, because the metrics have no authentication',
    monitoringNamespace,
    'remove networkPolicies: false, or read the metrics with kubectl port-forward',
  );
}
