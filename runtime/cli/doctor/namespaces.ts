/** The proof that admission is in force: dry runs of a Job and of a pod in each opted-in namespace. */
import { ADMITTED_LABEL, NAMESPACE_LABEL } from '../../../constructs/api/labels';
import { selects } from '../../jobspec/label-selector';
import { ApiError, isStatus } from '../../kubernetes/errors';
import { jobs, mutatingAdmissionPolicyBindings, pods } from '../../kubernetes/paths';
import type { Job, Pod } from '../../kubernetes/types';
import { isGated } from '../../workloads/pod';
import { type Binding, type NamespaceSelector, webhookConfiguration } from './admission';
import { type Context, counted, error, type Finding, listed, ok, unknown, warning } from './finding';
import type { Namespace } from './objects';
import { missingRight } from './rights';

/** Where nothing of admission can be read, the label that opts in. */
const BY_LABEL: NamespaceSelector = {
  matchExpressions: [{ key: NAMESPACE_LABEL, operator: 'In', values: ['true'] }],
};

/** The namespaces to which admission applies, by its own selector. */
export async function optedIn(context: Context): Promise<readonly Namespace[]> {
  const namespaces = await context.reader.namespaces();
  const selector = (await selectorOf(context)) ?? BY_LABEL;
  return namespaces.filter(
    ({ metadata, status }) => status?.phase !== 'Terminating' && selects(selector, metadata.labels ?? {}),
  );
}

/** The pods of all opted-in namespaces. */
export async function podsOfQueue(context: Context): Promise<readonly Pod[]> {
  const namespaces = await optedIn(context);
  const found = await Promise.all(
    namespaces.map(({ metadata }) => context.reader.list<Pod>(pods(metadata.name))),
  );
  return found.flat();
}

async function selectorOf(context: Context): Promise<NamespaceSelector | undefined> {
  const bindings = await context.reader.ofTheStack<Binding>(mutatingAdmissionPolicyBindings());
  const binding = bindings.find(({ metadata }) => metadata.name === 'fluxqueue-jobs');
  const webhook = await webhookConfiguration(context);
  return binding?.spec.matchResources?.namespaceSelector ?? webhook?.webhooks?.[0]?.namespaceSelector;
}

export async function checkNamespaces(context: Context): Promise<readonly Finding[]> {
  const enabled = await optedIn(context);
  const misspelled = (await context.reader.namespaces()).flatMap(misspelledFindings);
  if (enabled.length === 0)
    return [
      ...misspelled,
      warning(
        'no namespace is opted in: nothing goes through the queue',
        `kubectl label namespace NAME ${NAMESPACE_LABEL}=true`,
      ),
    ];
  const tried = await Promise.all(enabled.map(({ metadata }) => tryNamespace(context, metadata.name)));
  const wrong = tried.flat();
  const held = enabled.filter((_, i) => tried[i]!.length === 0).map(({ metadata }) => metadata.name);
  const message = `a new Job and a new pod would wait in the queue in ${counted(held.length, 'namespace')}: ${listed(held)}`;
  return [...misspelled, ...(held.length > 0 ? [ok(message)] : []), ...wrong];
}

/** The label with a value that only looks as if it opted in. @internal exported for tests */
export function misspelledFindings({ metadata: { name, labels = {} } }: Namespace): readonly Finding[] {
  const value = labels[NAMESPACE_LABEL];
  if (value === undefined || value === 'true' || value === 'false') return [];
  return [
    warning(
      `namespace ${name} has ${NAMESPACE_LABEL}: ${JSON.stringify(value)}, which is neither "true" nor "false"`,
      `kubectl label --overwrite namespace ${name} ${NAMESPACE_LABEL}=true`,
    ),
  ];
}

/** Allowed by the strictest Pod Security level, and small. */
const SPEC = {
  restartPolicy: 'Never',
  securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    {
      name: 'main',
      image: 'fluxqueue.invalid/doctor',
      resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '10m', memory: '16Mi' } },
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    },
  ],
};
const METADATA = { generateName: 'fluxqueue-doctor-' };
const JOB = { apiVersion: 'batch/v1', kind: 'Job', metadata: METADATA, spec: { template: { spec: SPEC } } };
const POD = { apiVersion: 'v1', kind: 'Pod', metadata: METADATA, spec: SPEC };

/** What is wrong in one namespace. */
async function tryNamespace({ reader: { client } }: Context, namespace: string): Promise<readonly Finding[]> {
  const found = await Promise.all([
    tried('Job', namespace, async () => {
      const { metadata, spec } = await client.create<Job>(jobs(namespace), JOB, { dryRun: true });
      return spec.suspend === true && metadata.labels?.[ADMITTED_LABEL] === 'true';
    }),
    tried('pod', namespace, async () =>
      isGated(await client.create<Pod>(pods(namespace), POD, { dryRun: true })),
    ),
  ]);
  return found.flat();
}

async function tried(
  kind: string,
  namespace: string,
  isHeld: () => Promise<boolean>,
): Promise<readonly Finding[]> {
  try {
    if (await isHeld()) return [];
  } catch (refusal) {
    if (!(refusal instanceof ApiError)) throw refusal;
    return [refusalFinding(kind, namespace, refusal)];
  }
  return [
    error(
      `a new ${kind} in namespace ${namespace} would start without the queue: a dry run of one was not held`,
      'apply the last file of the stack again, and see the other findings about admission',
    ),
  ];
}

/** @internal exported for tests */
export function refusalFinding(kind: string, namespace: string, refusal: ApiError): Finding {
  const right = isStatus(refusal, 403) ? missingRight(refusal.message) : undefined;
  if (right !== undefined)
    return unknown(
      `not tried whether a new ${kind} in namespace ${namespace} would wait in the queue: you may not ${right}`,
      'run this as a user with that right; it is a dry run, and nothing is created',
    );
  const reason = reasonOf(refusal.message);
  if (/failed calling webhook|failed to call webhook/.test(refusal.message))
    return error(
      `no ${kind} can be created in namespace ${namespace}: ${reason}`,
      'see that the pods of that webhook are Ready, that its certificate is trusted, and that the network lets the apiserver reach it',
    );
  return unknown(
    `not tried whether a new ${kind} in namespace ${namespace} would wait in the queue: ${reason}`,
    'if it is a quota or another policy of this namespace that refuses the dry run, submit a Job of your own and look at it with kubectl fluxqueue why',
  );
}

/** The apiserver's own sentence, without our code, path and remedy around it. */
function reasonOf(message: string): string {
  return message.replace(/^FLUXQ_\w+: [A-Z]+ \S+: /, '').replace(/; grant this by RBAC.*$/, '');
}
