/** The Deployments, StatefulSets and pods of the stack. */
import type { KubernetesObject, Pod } from '../../kubernetes/types';
import {
  type Context,
  counted,
  duration,
  error,
  type Finding,
  listed,
  ok,
  secondsSince,
  warning,
} from './finding';
import { somebodyLeads } from './leader';
import type { Deployment } from './objects';

const CONTROLLER = 'fluxqueue-controller';

export async function checkDeployments(context: Context): Promise<readonly Finding[]> {
  const { reader, namespace, now } = context;
  const deployments = await reader.deployments();
  const all = [...deployments, ...(await reader.statefulSets())];
  const findings = all.flatMap((each) => deploymentFindings(each, now));
  if (!deployments.some(({ metadata }) => metadata.name === CONTROLLER))
    findings.push(await outside(context));
  if (findings.length > 0) return findings;
  return [ok(`available in ${namespace}: ${listed(all.map(({ metadata }) => metadata.name))}`)];
}

/** No Deployment: the controller runs elsewhere, or nowhere. */
async function outside(context: Context): Promise<Finding> {
  if (await somebodyLeads(context)) return ok('the controller runs, and not as a Deployment of this cluster');
  return error(
    `namespace ${context.namespace} has no Deployment ${CONTROLLER}, and no other controller leads`,
    'apply the stack, or name its namespace with -n',
  );
}

const MEANINGS: Readonly<Record<string, string>> = {
  [CONTROLLER]: 'no workload is released; what runs goes on',
  'fluxqueue-webhook': 'opted-in namespaces refuse new Jobs and pods',
  'fluxqueue-reader': 'questions to the read API are not answered, and no namespace is deleted completely',
  'fluxqueue-database': 'no workload is released until it is back',
};

/** What is wrong with a Deployment or StatefulSet. @internal exported for tests */
export function deploymentFindings(
  { metadata: { name, namespace }, spec, status = {} }: Deployment,
  now: number,
): readonly Finding[] {
  const { replicas = 1 } = spec;
  const { availableReplicas = 0, conditions = [] } = status;
  const meaning = MEANINGS[name] === undefined ? '' : `: ${MEANINGS[name]}`;
  const [kind, usual] = name === 'fluxqueue-database' ? ['statefulset', 1] : ['deployment', 2];
  if (replicas === 0)
    return [
      error(
        `${name} is scaled to 0${meaning}`,
        `kubectl -n ${namespace} scale ${kind}/${name} --replicas ${usual}`,
      ),
    ];
  if (availableReplicas >= replicas) return [];
  const since = conditions.find(({ type, status: holds }) => type === 'Available' && holds !== 'True');
  const seconds = secondsSince(since?.lastTransitionTime, now);
  const age = seconds === 0 ? '' : ` since ${duration(seconds)}`;
  // An earlier version had this policy, whose controller waits for the pod that is there, whatever template follows.
  const pod =
    spec.podManagementPolicy === 'OrderedReady'
      ? `, and if a wrong template was reverted since, replace its pod: kubectl -n ${namespace} delete pod ${name}-0`
      : '';
  const remedy = `look at its pods below, and at: kubectl -n ${namespace} describe ${kind}/${name}${pod}`;
  return availableReplicas === 0
    ? [error(`none of ${counted(replicas, 'pod')} of ${name} is available${age}${meaning}`, remedy)]
    : [warning(`${availableReplicas} of ${replicas} pods of ${name} are available${age}`, remedy)];
}

export async function checkPods({ reader, now }: Context): Promise<readonly Finding[]> {
  const pods = await reader.podsOfTheStack();
  const findings = pods.flatMap((pod) => podFindings(pod, now));
  if (findings.length > 0 || pods.length === 0) return findings;
  return [ok(`${counted(pods.length, 'pod')} of the stack: Ready, and not restarted within the last hour`)];
}

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number] & {
  readonly lastState?: {
    readonly terminated?: {
      readonly exitCode: number;
      readonly reason?: string;
      readonly finishedAt?: string;
    };
  };
};

const HOUR = 3600;

/** What is wrong with a pod of the stack. @internal exported for tests */
export function podFindings(pod: Pod, now: number): readonly Finding[] {
  const { metadata, status = {} } = pod;
  // A pod that has failed stays listed, while its controller has made another one.
  if (metadata.deletionTimestamp !== undefined || ['Succeeded', 'Failed'].includes(status.phase ?? ''))
    return [];
  const containers = containersOf(pod);
  const waiting = containers.find(({ state }) => /Err|BackOff|Invalid/.test(state?.waiting?.reason ?? ''));
  if (waiting !== undefined) return [waitingFinding(pod, waiting)];
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True')
    return [
      notReady(pod, duration(secondsSince(ready?.lastTransitionTime ?? metadata.creationTimestamp, now))),
    ];
  return containers.flatMap((container) => restartFindings(pod, container, now));
}

function containersOf({ status = {} }: Pod): readonly ContainerStatus[] {
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
}

const nameOf = ({ metadata }: KubernetesObject) => `pod ${metadata.name}`;

function logsOf({ metadata }: Pod, container: string, previous = ''): string {
  return `kubectl -n ${metadata.namespace} logs ${metadata.name} -c ${container}${previous}`;
}

function waitingFinding(pod: Pod, { name, state }: ContainerStatus): Finding {
  const { reason = '', message = '' } = state?.waiting ?? {};
  const about = message === '' ? reason : `${reason}: ${message}`;
  if (/Image|Registry/.test(reason))
    return error(
      `${nameOf(pod)} cannot get the image of container ${name}: ${about}`,
      'build and push the images (npm run images), set the props images, or give the pull Secret by pods.imagePullSecrets',
    );
  return error(
    `container ${name} of ${nameOf(pod)} does not start: ${about}`,
    reason === 'CrashLoopBackOff'
      ? `read its last words: ${logsOf(pod, name, ' --previous')}`
      : `read the events of: kubectl -n ${pod.metadata.namespace} describe pod ${pod.metadata.name}`,
  );
}

function notReady(pod: Pod, age: string): Finding {
  const { metadata, status = {} } = pod;
  const unscheduled = status.conditions?.find(
    ({ type, status: holds }) => type === 'PodScheduled' && holds === 'False',
  );
  if (unscheduled !== undefined)
    return error(
      `${nameOf(pod)} has no node since ${age}: ${unscheduled.message ?? unscheduled.reason}`,
      'free or add a node for it: the pods of the stack do not wait in the queue',
    );
  const component = metadata.labels?.['app.kubernetes.io/component'] ?? '';
  const container = pod.spec.containers[0]?.name ?? '';
  const about = NOT_READY[component];
  return warning(
    `${nameOf(pod)} is not Ready since ${age}${about === undefined ? '' : `: ${about}`}`,
    `its log says what it waits for: ${logsOf(pod, container)}`,
  );
}

/** What a role waits for while its readiness probe fails (runtime/roles). */
const NOT_READY: Readonly<Record<string, string>> = {
  controller:
    'it waits for the database, for its first copy of the cluster and the queue, or its passes fail because Fluxion or the database does not answer',
  webhook: 'it has no certificate yet',
  reader: 'it has no certificate yet',
  database: 'Postgres does not accept connections',
};

function restartFindings(
  pod: Pod,
  { name, restartCount = 0, lastState }: ContainerStatus,
  now: number,
): Finding[] {
  const last = lastState?.terminated;
  if (restartCount === 0 || last === undefined) return [];
  const seconds = secondsSince(last.finishedAt, now);
  if (seconds > HOUR) return [];
  const end =
    last.reason === 'OOMKilled' ? 'it used more memory than its limit' : `exit code ${last.exitCode}`;
  return [
    warning(
      `container ${name} of ${nameOf(pod)} restarted ${duration(seconds)} ago (${end}), ${counted(restartCount, 'time')} in all`,
      last.reason === 'OOMKilled'
        ? `raise its limit with the prop pods, and read: ${logsOf(pod, name, ' --previous')}`
        : `read its last words: ${logsOf(pod, name, ' --previous')}`,
    ),
  ];
}
