/**
 * The callers of the apiserver: for each right of a component the folder of the runtime that uses it. The test finds the
 * file. A right without a caller is excessive; the stack suites show that no right is missing, because their processes run
 * with exactly these rights.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makerKinds, WORKLOAD_KINDS } from '../../../constructs/api/workload-kinds';

const ROOT = join(__dirname, '..', '..', '..');

interface Caller {
  /** Folder of the file that makes the requests. */
  readonly folder: string;
  /** Name of that file. @default - the test finds it */
  readonly file?: string;
  /** For each resource, as `group/resource` of RBAC: text of that file that refers to it. */
  readonly resources: Readonly<Record<string, string>>;
  readonly verbs: readonly string[];
  /** Whether another file of the folder maps objects to resources. @default false */
  readonly mapped?: boolean;
}

/** Calls that make a request with the verb. After a failed patch or delete, runtime/kubernetes/writes.ts gets the object. */
const CALLS: Readonly<Record<string, RegExp>> = {
  get: /\bclient\.get\b|\b(applyPatch|deleteObject)\(/,
  list: /\bnew (Reflector|Informer)\b|\bclient\s*\.list\b/,
  watch: /\bnew (Reflector|Informer)\b/,
  create: /\bclient\s*\.create\b|\bcreateSecret\(|\bclient\.patch\([^;]*'apply'/,
  update: /\bclient\s*\.update\b/,
  patch: /\bclient\.patch\b|\bapplyPatch\(/,
  delete: /\bclient\.delete\b|\bdeleteObject\(/,
};

const KINDS = WORKLOAD_KINDS.map(({ group, plural }) => `${group}/${plural}`);
/** Each kind of the registry, by this text of the file. */
const ofKinds = (text: string) => Object.fromEntries(KINDS.map((kind) => [kind, text]));

const ofMakers = (text: string) =>
  Object.fromEntries(makerKinds().map(({ group, plural }) => [`${group}/${plural}`, text]));

const CONTROLLER: readonly Caller[] = [
  {
    folder: 'runtime/shared',
    resources: {
      limitranges: 'limitRanges()',
      namespaces: 'namespaces()',
      nodes: 'nodes()',
      pods: 'pods()',
      'batch/jobs': 'jobs()',
      ...ofKinds('kindPath(kind)()'),
      ...ofMakers('kindPath(maker)()'),
      'jobs.converged-computing.org/fluxjobs': 'fluxJobs()',
      'flux-framework.org/fluxsetups': 'fluxSetups()',
      'scheduling.k8s.io/priorityclasses': 'priorityClasses()',
      'node.k8s.io/runtimeclasses': 'runtimeClasses()',
      persistentvolumeclaims: 'persistentVolumeClaims()',
      persistentvolumes: 'persistentVolumes()',
      'storage.k8s.io/storageclasses': 'storageClasses()',
    },
    verbs: ['list', 'watch'],
  },
  {
    folder: 'runtime/leader',
    resources: { 'coordination.k8s.io/leases': 'leases(' },
    verbs: ['get', 'create', 'update', 'list', 'watch'],
  },
  {
    folder: 'runtime/workloads',
    resources: { pods: 'adapter.path(', 'batch/jobs': 'adapter.path(', ...ofKinds('adapter.path(') },
    verbs: ['get', 'patch'],
  },
  {
    folder: 'runtime/workloads',
    file: 'start-time.ts',
    resources: { 'batch/jobs/status': '/status`' },
    verbs: ['patch'],
  },
  {
    folder: 'runtime/workloads',
    file: 'kubelet-events.ts',
    resources: { 'events.k8s.io/events': 'events(' },
    verbs: ['list'],
  },
  {
    folder: 'runtime/workloads',
    file: 'resource-claims.ts',
    resources: {
      'resource.k8s.io/resourceclaims': 'resourceClaims(',
      'resource.k8s.io/resourceclaimtemplates': 'resourceClaimTemplates(',
    },
    verbs: ['get'],
  },
  {
    folder: 'runtime/workloads',
    file: 'stateful-sets.ts',
    resources: { 'apps/statefulsets': 'statefulSets(' },
    verbs: ['get'],
  },
  {
    folder: 'runtime/workloads',
    resources: { 'pods/eviction': "'eviction')" },
    verbs: ['create'],
  },
  { folder: 'runtime/workloads', file: 'dry-runs.ts', resources: { pods: 'pods(' }, verbs: ['create'] },
  {
    folder: 'runtime/workloads',
    file: 'mutating-admission.ts',
    resources: {
      'admissionregistration.k8s.io/mutatingwebhookconfigurations': 'mutatingWebhookConfigurations()',
      'admissionregistration.k8s.io/mutatingadmissionpolicies': 'mutatingAdmissionPolicies()',
      'admissionregistration.k8s.io/mutatingadmissionpolicybindings': 'mutatingAdmissionPolicyBindings()',
    },
    verbs: ['list', 'watch'],
  },
  {
    folder: 'runtime/fluxjobs',
    resources: { 'jobs.converged-computing.org/fluxjobs': 'fluxJobs(' },
    verbs: ['get', 'create', 'patch', 'delete'],
  },
  {
    folder: 'runtime/fluxsetups',
    resources: { 'flux-framework.org/fluxsetups': 'fluxSetups(' },
    verbs: ['get'],
  },
  {
    folder: 'runtime/fluxsetups',
    resources: { 'flux-framework.org/fluxsetups/status': "'status')" },
    verbs: ['patch'],
  },
  {
    folder: 'runtime/kubernetes',
    resources: { 'events.k8s.io/events': 'events(' },
    verbs: ['create', 'patch'],
  },
  {
    folder: 'runtime/miniclusters',
    resources: {
      'flux-framework.org/miniclusters': 'miniClusters()',
      services: 'services()',
      'apps/statefulsets': 'statefulSets()',
      'apps/deployments': 'deployments()',
    },
    verbs: ['list', 'watch'],
  },
  {
    folder: 'runtime/miniclusters',
    resources: { 'flux-framework.org/miniclusters': 'miniClusters(' },
    verbs: ['get', 'patch', 'delete'],
  },
  {
    folder: 'runtime/miniclusters',
    resources: { 'flux-framework.org/miniclusters/status': "'status')" },
    verbs: ['patch'],
  },
  {
    folder: 'runtime/miniclusters',
    resources: {
      configmaps: "'configmaps'",
      services: "'services'",
      'batch/jobs': "'jobs'",
      'apps/statefulsets': "'statefulsets'",
      'apps/deployments': "'deployments'",
    },
    verbs: ['create', 'patch'],
    mapped: true,
  },
  {
    folder: 'runtime/miniclusters',
    resources: { services: 'Service:', 'apps/deployments': 'Deployment:' },
    verbs: ['get', 'delete'],
  },
  {
    folder: 'runtime/miniclusters',
    resources: { secrets: 'secrets(', 'authentication.k8s.io/tokenreviews': 'tokenReviews(' },
    verbs: ['create'],
  },
  {
    folder: 'runtime/kubernetes',
    file: 'secrets.ts',
    resources: { secrets: 'secrets(' },
    verbs: ['get'],
  },
];

const WEBHOOK_CONFIGURATIONS = 'admissionregistration.k8s.io/mutatingwebhookconfigurations';
const WEBHOOK: readonly Caller[] = [
  {
    folder: 'runtime/admission',
    resources: { secrets: 'secrets(' },
    verbs: ['get', 'create', 'update', 'list', 'watch'],
  },
  {
    folder: 'runtime/admission',
    resources: { [WEBHOOK_CONFIGURATIONS]: 'mutatingWebhookConfigurations(' },
    verbs: ['get', 'patch', 'list', 'watch'],
    // The object that has the CA is an argument of those who ask for it.
    mapped: true,
  },
];

const READER: readonly Caller[] = [
  // The watches of the controller, which answers open when somebody asks.
  { ...CONTROLLER[0]! },
  {
    folder: 'runtime/admission',
    resources: { secrets: 'secrets(' },
    verbs: ['get', 'create', 'update', 'list', 'watch'],
  },
  {
    folder: 'runtime/admission',
    resources: { 'apiregistration.k8s.io/apiservices': 'apiServices(' },
    verbs: ['get', 'patch', 'list', 'watch'],
    mapped: true,
  },
  {
    folder: 'runtime/reader',
    resources: {
      'authentication.k8s.io/tokenreviews': 'tokenReviews(',
      'authorization.k8s.io/subjectaccessreviews': 'subjectAccessReviews(',
    },
    verbs: ['create'],
    mapped: true,
  },
];

const DATABASE: readonly Caller[] = [
  {
    folder: 'runtime/cli',
    file: 'database-password.ts',
    resources: { secrets: 'secrets(' },
    verbs: ['get', 'create', 'update'],
  },
];

/** Callers by the name of the component's Role and ClusterRole; kube-scheduler is not part of this repository. */
const CALLERS: Readonly<Record<string, readonly Caller[]>> = {
  'fluxqueue-controller': CONTROLLER,
  'fluxqueue-webhook': WEBHOOK,
  'fluxqueue-reader': READER,
  'fluxqueue-database': DATABASE,
};

/** `VERB RESOURCE` of all requests of a component. @throws when no file of a folder makes a request of the table */
export function requestsOf(role: string): Set<string> {
  const requests = new Set<string>();
  for (const caller of CALLERS[role] ?? []) {
    for (const [resource, text] of Object.entries(caller.resources)) {
      for (const verb of caller.verbs) {
        if (!makesRequest(caller, verb, text))
          throw new Error(`no file of ${caller.folder} makes the request: ${verb} ${resource}`);
        requests.add(`${verb} ${resource}`);
      }
    }
  }
  return requests;
}

function makesRequest({ folder, file, mapped = false }: Caller, verb: string, text: string): boolean {
  const sources = sourcesOf(folder, file);
  const refers = (source: string) => source.includes(text);
  return sources.some(
    (source) => CALLS[verb]?.test(source) === true && (mapped ? sources.some(refers) : refers(source)),
  );
}

/** The sources of a folder, or of one file, without their comments. */
function sourcesOf(folder: string, file?: string): string[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => (file === undefined ? name.endsWith('.ts') : name === file))
    .map((name) => readFileSync(join(ROOT, folder, name), 'utf8'))
    .map((source) => source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''));
}
