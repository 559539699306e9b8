/** The rules of the validation plugin. */
import { fluxSetupProblems } from './fluxsetup';
import { containersOf, isFluxSetup, isMiniCluster, type Manifest, Place, podSpec } from './manifest';
import { miniClusterProblems, renderedObjects } from './minicluster';
import { restrictedProblems } from './pod-security';
import { settingProblems } from './settings';

export interface Rule {
  readonly recommendation: string;
  readonly fix: string;
  /** Everything in an object that breaks the rule, each with its path. */
  check(manifest: Manifest): readonly string[];
}

export interface RuleOptions {
  /** Whether a tag is not enough to name an image. */
  readonly requireDigest: boolean;
  /** All objects of the app. @default - a rule sees one object at a time */
  readonly objects?: readonly Manifest[];
}

export const RULE_NAMES = [
  'no-plaintext-secret',
  'image-pinned',
  'requests-set',
  'pod-security-restricted',
  'no-object-twice',
  'minicluster',
  'fluxsetup',
  'queue-settings',
  'job-stays',
] as const;
export type RuleName = (typeof RULE_NAMES)[number];

/** The rules for one run: one of them remembers the objects that it has seen. */
export function rules({ requireDigest, objects = [] }: RuleOptions): Readonly<Record<RuleName, Rule>> {
  return {
    'no-plaintext-secret': {
      recommendation: 'Manifests in Git contain no password, token or key',
      fix: 'refer to a Secret that an external secret store or a sealed secret fills',
      check: plaintextSecrets,
    },
    'image-pinned': {
      recommendation: `An image is named by its digest${requireDigest ? '' : ', or at least by a tag other than latest'}`,
      fix: 'write NAME:TAG@sha256:DIGEST',
      check: (manifest) => unpinnedImages(manifest, requireDigest),
    },
    'requests-set': {
      recommendation: 'Every container requests cpu and memory, by which the queue and the scheduler plan',
      fix: 'give resources.requests.cpu and resources.requests.memory',
      check: missingRequests,
    },
    'pod-security-restricted': {
      recommendation: 'Pods keep Pod Security restricted',
      fix: 'set the fields, or skip the rule for this object: https://kubernetes.io/docs/concepts/security/pod-security-standards/',
      check: (manifest) => {
        const spec = podSpec(manifest);
        return spec === undefined ? [] : restrictedProblems(spec);
      },
    },
    'no-object-twice': {
      recommendation: 'No object is written twice: the last one applied would win',
      fix: 'rename or remove one of them',
      check: duplicates(),
    },
    minicluster: {
      recommendation: 'The apiserver accepts the MiniCluster, and it can be rendered',
      fix: 'correct the fields; docs/minicluster-fields.md lists them',
      check: (manifest) => (isMiniCluster(manifest) ? miniClusterProblems(manifest) : []),
    },
    fluxsetup: {
      recommendation: 'The apiserver accepts the FluxSetup',
      fix: 'correct the fields; docs/queues.md lists them',
      check: (manifest) => (isFluxSetup(manifest) ? fluxSetupProblems(manifest) : []),
    },
    'queue-settings': {
      recommendation:
        'Admission accepts the settings of workloads and namespaces, and no pod passes the queue by',
      fix: 'correct the labels and annotations; the README lists them',
      check: (manifest) => settingProblems(manifest, objects),
    },
    'job-stays': {
      recommendation:
        'A Job in Git stays after its end: a GitOps engine creates one that is gone again, and it runs again',
      fix: 'remove ttlSecondsAfterFinished (of a MiniCluster: cleanup), use a CronJob, or make it a hook of the engine',
      check: expiringJobs,
    },
  };
}

/** Names of variables whose value is a secret. */
const SECRET_NAME = /(PASSWORD|PASSWD|PASSPHRASE|TOKEN|SECRET|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY)$/i;
/** A URL with a password. */
const URL_PASSWORD = /^[a-z][-+.a-z0-9]*:\/\/[^/?#\s:@]*:[^/?#\s@]+@/i;

function plaintextSecrets(manifest: Manifest): string[] {
  const root = new Place(manifest, '');
  const contents =
    manifest.kind === 'Secret' && manifest.apiVersion === 'v1'
      ? ['data', 'stringData'].flatMap((field) => root.field(field).entries())
      : [];
  const certificate = root.field('spec.flux.curveCert');
  return [
    ...contents.map(([, { path }]) => `${path}: is a plain text`),
    ...containersOf(manifest).flatMap(secretVariables),
    ...(isMiniCluster(manifest) && certificate.exists
      ? [`${certificate.path}: is a private key; use curveCertSecret`]
      : []),
  ];
}

function secretVariables(container: Place): string[] {
  const listed = container
    .field('env')
    .items()
    .map((each): [string, Place] => [String(each.field('name').value), each.field('value')]);
  const mapped = container.field('environment').entries();
  return [...listed, ...mapped]
    .filter(([name, { value }]) => typeof value === 'string' && value !== '' && isSecret(name, value))
    .map(([name, { path }]) => `${path}: ${name} has a plain text`);
}

function isSecret(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || URL_PASSWORD.test(value);
}

function unpinnedImages(manifest: Manifest, requireDigest: boolean): string[] {
  return containersOf(manifest).flatMap((container) => {
    const { value, path } = container.field('image');
    const problem = typeof value === 'string' ? imageProblem(value, requireDigest) : 'is missing';
    return problem === undefined ? [] : [`${path}: ${problem} (${String(value)})`];
  });
}

function imageProblem(image: string, requireDigest: boolean): string | undefined {
  if (/@sha256:[0-9a-f]{64}$/.test(image)) return undefined;
  if (requireDigest) return 'has no digest';
  const [, tag] = /:([^:/]+)$/.exec(image) ?? [];
  if (tag === undefined) return 'has neither digest nor tag';
  return tag === 'latest' ? 'is latest' : undefined;
}

function missingRequests(manifest: Manifest): string[] {
  return containersOf(manifest).flatMap((container) =>
    ['cpu', 'memory']
      .map((resource) => container.field(`resources.requests.${resource}`))
      // A limit without a request is the request, too.
      .filter(({ exists, path }) => !exists && !limitOf(container, path).exists)
      .map(({ path }) => `${path}: is missing`),
  );
}

function limitOf(container: Place, request: string): Place {
  return container.field(`resources.limits.${request.slice(request.lastIndexOf('.') + 1)}`);
}

/** Engines create the Job of a hook on purpose, and delete it. */
const HOOKS = ['argocd.argoproj.io/hook', 'helm.sh/hook'];

function expiringJobs(manifest: Manifest): string[] {
  const root = new Place(manifest, '');
  const ttl = root.field('spec.ttlSecondsAfterFinished');
  if (`${manifest.apiVersion} ${manifest.kind}` !== 'batch/v1 Job' || !ttl.exists) return [];
  const annotations = root.field('metadata.annotations').entries();
  return annotations.some(([key]) => HOOKS.includes(key)) ? [] : [`${ttl.path}: deletes the Job`];
}

/** Objects by what identifies them in a cluster, including those of which a MiniCluster consists. */
function duplicates(): Rule['check'] {
  const seen = new Map<string, string>();
  return (manifest) => {
    const own = `${manifest.kind} ${manifest.metadata.name}`;
    const objects = [manifest, ...(isMiniCluster(manifest) ? renderedObjects(manifest) : [])];
    return objects.flatMap((object) => {
      const key = identity(object, manifest.metadata.namespace);
      const other = seen.get(key);
      seen.set(key, own);
      if (other === undefined) return [];
      return [`${object.kind} ${object.metadata.name}: is also an object of ${other}`];
    });
  };
}

/** The version of an API does not distinguish objects. */
function identity({ apiVersion, kind, metadata }: Manifest, namespace = ''): string {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return [group, kind, metadata.namespace ?? namespace, metadata.name].join(' ');
}
