/**
 * The callers of the apiserver: for each right of a component the source file that uses it. A right without a caller is
 * too much; the stack suites show that none is missing, because their processes run with exactly these rights.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..', '..');

/** The requests of one source file. */
interface Caller {
  readonly file: string;
  /** For each resource, as `group/resource` of RBAC: text of the file that refers to it. */
  readonly resources: Readonly<Record<string, string>>;
  readonly verbs: readonly string[];
  /** File that turns objects into paths, where that is a different one. @default - the file itself */
  readonly paths?: string;
}

/** Calls that make a request with the verb. A patch or a delete that fails reads the object, see runtime/kubernetes/writes.ts. */
const CALLS: Readonly<Record<string, RegExp>> = {
  get: /\bclient\.get\b|\b(applyPatch|deleteObject)\(/,
  list: /\bnew Reflector\b/,
  watch: /\bnew Reflector\b/,
  create: /\bclient\s*\.create\b|\bclient\.patch\([^;]*'apply'/,
  update: /\bclient\s*\.update\b/,
  patch: /\bclient\.patch\b|\bapplyPatch\(/,
  delete: /\bclient\.delete\b|\bdeleteObject\(/,
};

const CONTROLLER: readonly Caller[] = [
  {
    file: 'runtime/leader/caches.ts',
    resources: {
      nodes: 'nodes()',
      pods: 'pods()',
      'batch/jobs': 'jobs()',
      'jobs.converged-computing.org/fluxjobs': 'fluxJobs()',
      'flux-framework.org/fluxsetups': 'fluxSetups()',
      'scheduling.k8s.io/priorityclasses': 'priorityClasses()',
    },
    verbs: ['list', 'watch'],
  },
  {
    file: 'runtime/workloads/reconciler.ts',
    resources: { pods: '/pods/', 'batch/jobs': 'adapter.release(' },
    verbs: ['get', 'patch'],
  },
  {
    file: 'runtime/fluxjobs/reconciler.ts',
    resources: { 'jobs.converged-computing.org/fluxjobs': 'fluxJobs(' },
    verbs: ['get', 'create', 'patch', 'delete'],
  },
  {
    file: 'runtime/fluxjobs/reconciler.ts',
    resources: { 'jobs.converged-computing.org/fluxjobs/status': "path('status')" },
    verbs: ['patch'],
  },
  {
    file: 'runtime/fluxsetups/reconciler.ts',
    resources: { 'flux-framework.org/fluxsetups': 'fluxSetups(' },
    verbs: ['get'],
  },
  {
    file: 'runtime/fluxsetups/reconciler.ts',
    resources: { 'flux-framework.org/fluxsetups/status': "'status')" },
    verbs: ['patch'],
  },
  {
    file: 'runtime/kubernetes/events.ts',
    resources: { 'events.k8s.io/events': 'events(' },
    verbs: ['create', 'patch'],
  },
  {
    file: 'runtime/leader/elector.ts',
    resources: { 'coordination.k8s.io/leases': 'leases(' },
    verbs: ['get', 'create', 'update'],
  },
  {
    file: 'runtime/miniclusters/controller.ts',
    resources: {
      'flux-framework.org/miniclusters': 'miniClusters()',
      services: 'services()',
      'apps/statefulsets': 'statefulSets()',
      'apps/deployments': 'deployments()',
    },
    verbs: ['list', 'watch'],
  },
  {
    file: 'runtime/miniclusters/reconciler.ts',
    resources: { 'flux-framework.org/miniclusters': 'miniClusters(' },
    verbs: ['get', 'delete'],
  },
  {
    file: 'runtime/miniclusters/status-writer.ts',
    resources: { 'flux-framework.org/miniclusters/status': "'status')" },
    verbs: ['patch'],
  },
  {
    file: 'runtime/miniclusters/apply.ts',
    paths: 'runtime/miniclusters/manifests.ts',
    resources: {
      configmaps: "'configmaps'",
      services: "'services'",
      'batch/jobs': "'jobs'",
      'apps/statefulsets': "'statefulsets'",
      'apps/deployments': "'deployments'",
    },
    verbs: ['create', 'patch'],
  },
  {
    file: 'runtime/miniclusters/prune.ts',
    resources: { services: 'Service:', 'apps/deployments': 'Deployment:' },
    verbs: ['get', 'delete'],
  },
  {
    file: 'runtime/miniclusters/curve-secret.ts',
    resources: { secrets: 'secrets(' },
    verbs: ['create'],
  },
];

const WEBHOOK: readonly Caller[] = [
  {
    file: 'runtime/admission/certificate-store.ts',
    resources: { secrets: 'secrets(' },
    verbs: ['get', 'update'],
  },
  {
    file: 'runtime/admission/certificate-store.ts',
    resources: { 'admissionregistration.k8s.io/mutatingwebhookconfigurations': 'webhookConfigurations(' },
    verbs: ['get', 'patch'],
  },
  {
    file: 'runtime/admission/certificate-rotation.ts',
    resources: {
      secrets: 'secrets(',
      'admissionregistration.k8s.io/mutatingwebhookconfigurations': 'webhookConfigurations(',
    },
    verbs: ['list', 'watch'],
  },
];

const DATABASE: readonly Caller[] = [
  {
    file: 'runtime/cli/database-password.ts',
    resources: { secrets: 'secrets(' },
    verbs: ['get', 'update'],
  },
];

/** Callers by the name of the component's Role and ClusterRole; kube-scheduler is not part of this repository. */
const CALLERS: Readonly<Record<string, readonly Caller[]>> = {
  'fluxqueue-controller': CONTROLLER,
  'fluxqueue-webhook': WEBHOOK,
  'fluxqueue-database': DATABASE,
};

/** `VERB RESOURCE` of everything that the files of a component request. @throws where a file does not make a request of its line */
export function requestsOf(role: string): Set<string> {
  const requests = new Set<string>();
  for (const { file, paths = file, resources, verbs } of CALLERS[role] ?? []) {
    const source = sourceOf(file);
    for (const [resource, text] of Object.entries(resources)) {
      if (!sourceOf(paths).includes(text))
        throw new Error(`${paths} does not mention ${resource} as ${text}`);
      for (const verb of verbs) {
        if (CALLS[verb]?.test(source) !== true) throw new Error(`${file} does not ${verb} ${resource}`);
        requests.add(`${verb} ${resource}`);
      }
    }
  }
  return requests;
}

/** The source without its comments. */
function sourceOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}
