/**
 * Plugin for `cdk8s synth`: it validates the manifests of an app, of whatever constructs they are. A file cdk8s.yaml names it:
 *
 *   validations:
 *     - package: ./node_modules/cdk8s-fluxqueue
 *       version: 0.1.0
 *       class: FluxQueueValidation
 */
import { PropsError } from '../api/errors';
import { checkByRules, type PropRules } from '../api/prop-rules';
import { flag, listOf, text } from '../api/rules';
import { isManifest, type Manifest } from './manifest';
import { RULE_NAMES, type Rule, type RuleName, rules } from './rules';

/** The part of cdk8s-cli's ValidationContext that the plugin uses; the package does not depend on the CLI. */
export interface ManifestValidationContext {
  /** Paths of the files to validate. */
  readonly manifests: readonly string[];
  parseManifest(path: string): unknown[];
  readonly report: {
    addViolation(violation: ManifestViolation): void;
    submit(status: 'success' | 'failure', metadata?: Readonly<Record<string, string>>): void;
  };
}

/** A rule that objects break, in the form of cdk8s-cli. */
export interface ManifestViolation {
  readonly ruleName: string;
  readonly recommendation: string;
  readonly fix: string;
  readonly violatingResources: readonly {
    readonly resourceName: string;
    readonly locations: readonly string[];
    readonly manifestPath: string;
  }[];
}

/** `properties` of the plugin in cdk8s.yaml. */
export interface FluxQueueValidationProps {
  /**
   * Rules to skip, everywhere (`pod-security-restricted`) or for one object (`pod-security-restricted:Job/legacy`); a name
   * can end with `*`.
   * @default []
   */
  readonly skip?: readonly string[];

  /** Whether every image needs a digest, instead of a tag other than latest. @default false */
  readonly requireDigest?: boolean;
}

const PROPERTIES: PropRules<FluxQueueValidationProps> = { skip: listOf(text), requireDigest: flag };

interface Found {
  readonly manifest: Manifest;
  readonly path: string;
}

/**
 * Refuses manifests with plain-text secrets, images without digest or tag, containers without requests, pods that Pod Security
 * `restricted` refuses, objects that are written twice, invalid MiniClusters, FluxSetups
 * and settings, and Jobs that a GitOps engine would run again and again.
 */
export class FluxQueueValidation {
  private readonly skips: readonly Skip[];

  /** @throws PropsError for a wrong property, or an unknown rule */
  constructor(private readonly props: FluxQueueValidationProps = {}) {
    checkByRules('FluxQueueValidation', props, PROPERTIES);
    this.skips = (props.skip ?? []).map(parseSkip);
  }

  async validate(context: ManifestValidationContext): Promise<void> {
    const objects = context.manifests.flatMap((path) =>
      manifestsOf(context.parseManifest(path)).map((manifest) => ({ manifest, path })),
    );
    const { requireDigest = false } = this.props;
    const all = objects.map(({ manifest }) => manifest);
    const found = Object.entries(rules({ requireDigest, objects: all })).flatMap(
      ([name, rule]) => this.violation(name as RuleName, rule, objects) ?? [],
    );
    for (const violation of found) context.report.addViolation(violation);
    context.report.submit(found.length === 0 ? 'success' : 'failure', { objects: String(objects.length) });
  }

  private violation(name: RuleName, rule: Rule, objects: readonly Found[]): ManifestViolation | undefined {
    const violatingResources = objects.flatMap(({ manifest, path }) => {
      const problems = rule.check(manifest);
      if (problems.length === 0 || this.skips.some((skip) => skips(skip, name, manifest))) return [];
      const { name: resourceName } = manifest.metadata;
      const locations = problems.map((problem) => `${manifest.kind} ${problem}`);
      return [{ resourceName, locations, manifestPath: path }];
    });
    if (violatingResources.length === 0) return undefined;
    const { recommendation, fix } = rule;
    return { ruleName: name, recommendation, fix, violatingResources };
  }
}

/** The objects of a file, including those in a list. Settings of kustomize are no objects. */
function manifestsOf(documents: readonly unknown[]): Manifest[] {
  return documents.flatMap((document) => {
    const { kind, apiVersion, items } = (document ?? {}) as Record<string, unknown>;
    if (kind === 'List' && Array.isArray(items)) return manifestsOf(items);
    if (typeof apiVersion === 'string' && apiVersion.startsWith('kustomize.config.k8s.io/')) return [];
    return isManifest(document) ? [document] : [];
  });
}

interface Skip {
  readonly rule: string;
  readonly kind?: string;
  readonly name?: string;
}

function parseSkip(text: string): Skip {
  const [, rule = '', kind, name] = /^([a-z-]+)(?::([A-Za-z0-9]+)\/(.+))?$/.exec(text) ?? [];
  if ((RULE_NAMES as readonly string[]).includes(rule))
    return kind === undefined || name === undefined ? { rule } : { rule, kind, name };
  throw new PropsError(
    'FluxQueueValidation.skip',
    `must be RULE or RULE:KIND/NAME, with a rule of: ${RULE_NAMES.join(', ')}`,
    text,
    'correct it in the properties in cdk8s.yaml',
  );
}

function skips(skip: Skip, rule: RuleName, { kind, metadata }: Manifest): boolean {
  if (skip.rule !== rule) return false;
  if (skip.kind === undefined || skip.name === undefined) return true;
  const prefix = skip.name.endsWith('*') ? skip.name.slice(0, -1) : undefined;
  const named = prefix === undefined ? metadata.name === skip.name : metadata.name.startsWith(prefix);
  return kind === skip.kind && named;
}
