/** Each name, pattern, range and default has one definition in constructs/api: the CRDs and the CEL policies agree with it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Chart, Testing } from 'cdk8s';
import { parse } from 'yaml';
import {
  CRD_WALLTIME_PATTERN,
  DURATION_SYNTAX,
  DURATION_UNITS,
  MINICLUSTER_WALLTIME_REQUIREMENT,
  parseDuration,
} from '../../../constructs/api/durations';
import * as labels from '../../../constructs/api/labels';
import {
  BACKFILL_ORDERS,
  FAIR_SHARING,
  MATCH_POLICIES,
  QUEUE_POLICIES,
} from '../../../constructs/api/policies';
import {
  MAX_BACKOFF_SECONDS,
  QUEUE_DEFAULTS,
  QUEUE_RANGES,
  type Range,
  STACK_DEFAULTS,
} from '../../../constructs/api/queue-defaults';
import {
  COHORT_PATTERN,
  GROUP_PAIR_PROBLEM,
  GROUP_SETTINGS,
  GROUP_SYNTAX,
  INT32,
  MAX_WALLTIME_SECONDS,
  NOT_OF_JOBS_PROBLEM,
  PRIORITY_RANGE,
  QUEUE_NAME_PATTERN,
  QUEUE_NAME_SYNTAX,
  SETTING_SYNTAX,
} from '../../../constructs/api/settings';
import { AdmissionGuards } from '../../../constructs/fluxqueue/admission/guards';
import { KindGuards } from '../../../constructs/fluxqueue/admission/kind-guards';
import { parseConfig } from '../../../runtime/config';
import { settingsOf, stackQueue } from '../../../runtime/fluxsetups/queue-settings';
import { podSettings, workloadSettings } from '../../../runtime/workloads/settings';
import { fluxSetup } from '../../fluxsetups/fluxsetup-objects';
import { CRD_DURATION_PATTERN, CRD_QUEUE_WALLTIME_PATTERN } from './crd-patterns';

interface Schema {
  readonly default?: unknown;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message: string }[];
}

interface Crd {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

function crd(name: string): Crd {
  const file = join(__dirname, '../../../constructs/crds', `${name}.yaml`);
  return parse(readFileSync(file, 'utf8'), { merge: true }) as Crd;
}

const schemaOf = ({ spec }: Crd) => spec.versions[0]!.schema.openAPIV3Schema;

/** The schema at a path of property names below `spec`. */
function field(root: Crd, path: string): Schema {
  return ['spec', ...path.split('.')].reduce<Schema>((schema, name) => {
    const below = schema.properties?.[name];
    if (below === undefined) throw new Error(`${root.spec.names.plural} has no field ${path}`);
    return below;
  }, schemaOf(root));
}

const fluxsetups = crd('fluxsetups');
const miniclusters = crd('miniclusters');

describe('the CRD of FluxSetup', () => {
  const at = (path: string) => field(fluxsetups, path);
  const rules = (path: string) =>
    at(path)
      ['x-kubernetes-validations']?.map(({ rule }) => rule)
      .join();

  test.each([
    ['policy', QUEUE_DEFAULTS.policy],
    ['backfillOrder', QUEUE_DEFAULTS.backfillOrder],
    ['depth', QUEUE_DEFAULTS.depth],
    ['agingPerHour', QUEUE_DEFAULTS.agingPerHour],
    ['reclaim', QUEUE_DEFAULTS.reclaim],
    ['weight', QUEUE_DEFAULTS.weight],
    ['requeue.limit', QUEUE_DEFAULTS.requeue.limit],
    ['preemption.policy', QUEUE_DEFAULTS.preempts ? 'LowerPriority' : 'Never'],
    ['preemption.fairSharing', QUEUE_DEFAULTS.fairSharing],
    ['preemption.limit', QUEUE_DEFAULTS.preemption.limit],
    ['billingWeights.cores', QUEUE_DEFAULTS.billingWeights.cores],
    ['billingWeights.memory', QUEUE_DEFAULTS.billingWeights.memoryGiB],
    ['billingWeights.gpus', QUEUE_DEFAULTS.billingWeights.gpus],
  ])('has the default of %s', (path, value) => {
    expect(at(path).default).toBe(value);
  });

  test.each([
    ['walltime.default', QUEUE_DEFAULTS.defaultWalltimeSeconds],
    ['walltime.max', QUEUE_DEFAULTS.maxWalltimeSeconds],
    ['requeue.backoff', QUEUE_DEFAULTS.requeue.backoffSeconds],
    ['preemption.minRuntime', QUEUE_DEFAULTS.preemption.minRuntimeSeconds],
  ])('has the default of %s', (path, seconds) => {
    expect(parseDuration(String(at(path).default))).toBe(seconds);
    const [group = '', name = ''] = path.split('.');
    expect(at(group).default).toMatchObject({ [name]: at(path).default });
  });

  test('has no default for reservations, which only policy hybrid has, but describes it', () => {
    expect(at('reservations').default).toBeUndefined();
    expect(at('reservations').description).toMatch(new RegExp(`\\b${QUEUE_DEFAULTS.reservations}\\b`));
  });

  test('has no default for backfillMaxWait, which only shortestArea has, but describes it', () => {
    expect(at('backfillMaxWait').default).toBeUndefined();
    const [, hours] = /\b(\d+)h by default/.exec(at('backfillMaxWait').description ?? '') ?? [];
    expect(Number(hours) * 3600).toBe(QUEUE_DEFAULTS.backfillMaxWaitSeconds);
  });

  test('has the policies, the orders of backfill and the strategies of fair sharing', () => {
    expect(at('policy').enum).toEqual(QUEUE_POLICIES);
    expect(at('backfillOrder').enum).toEqual(BACKFILL_ORDERS);
    expect(at('preemption.fairSharing').enum).toEqual(FAIR_SHARING);
  });

  test.each<readonly [path: string, range: Range]>([
    ['reservations', QUEUE_RANGES.reservations],
    ['depth', QUEUE_RANGES.depth],
    ['agingPerHour', QUEUE_RANGES.agingPerHour],
    ['weight', QUEUE_RANGES.weight],
    ...['age', 'fairShare'].map((name) => [`priorityWeights.${name}`, QUEUE_RANGES.priorityWeight] as const),
    ...['size', 'queue'].map(
      (name) => [`priorityWeights.${name}`, QUEUE_RANGES.signedPriorityWeight] as const,
    ),
    ['requeue.limit', QUEUE_RANGES.requeueLimit],
    ['preemption.limit', QUEUE_RANGES.preemptionLimit],
    ...['cores', 'memory', 'gpus'].map(
      (name) => [`billingWeights.${name}`, QUEUE_RANGES.billingWeight] as const,
    ),
    ...['jobs', 'pods', 'gpus'].map((name) => [`lendingLimit.${name}`, QUEUE_RANGES.quota] as const),
    ['limits.running', QUEUE_RANGES.running],
    ['limits.waiting', QUEUE_RANGES.waiting],
    ['limits.perUser.running', QUEUE_RANGES.running],
    ['limits.perUser.waiting', QUEUE_RANGES.waiting],
    ...['jobs', 'pods', 'gpus', 'nodes'].flatMap((name) => [
      [`quota.${name}`, QUEUE_RANGES.quota] as const,
      [`borrowing.${name}`, QUEUE_RANGES.quota] as const,
    ]),
  ])('has the range of %s', (path, { min, max }) => {
    const { minimum, maximum, format } = at(path);
    expect({ minimum, maximum: maximum ?? (format === 'int32' ? INT32.max : undefined) }).toEqual({
      minimum: min,
      maximum: max,
    });
  });

  test.each(['priority.min', 'priority.max'])('takes any 32-bit integer as %s', (path) => {
    expect(at(path)).toMatchObject({ type: 'integer', format: 'int32' });
    expect(PRIORITY_RANGE).toEqual(INT32);
  });

  test('has the syntax of the backoff', () => {
    const [syntax] = at('requeue.backoff')['x-kubernetes-validations'] ?? [];
    expect(syntax!.rule).toBe(`self.matches('${CRD_DURATION_PATTERN}')`);
  });

  test.each(['walltime.default', 'walltime.max', 'preemption.minRuntime'])(
    'has the syntax of %s, with the right form in words',
    (path) => {
      const [syntax, range] = at(path)['x-kubernetes-validations'] ?? [];
      const matches = `self.matches('${CRD_QUEUE_WALLTIME_PATTERN}')`;
      expect(syntax).toEqual({ rule: matches, message: `must be ${DURATION_SYNTAX}` });
      const hours = Math.floor(MAX_WALLTIME_SECONDS / 3600);
      const isWithin = `!self.matches('${CRD_DURATION_PATTERN}') || duration(self) <= duration('${hours}h')`;
      const mayBeZero = path === 'preemption.minRuntime';
      expect(range!.rule).toBe(mayBeZero ? isWithin : `self.matches('[1-9]') && (${isWithin})`);
    },
  );

  test('compares the walltimes that CEL can compare', () => {
    const isOther = (field: string) => `!self.${field}.matches('${CRD_DURATION_PATTERN}')`;
    expect(rules('walltime')).toBe(
      `${isOther('default')} || ${isOther('max')} || duration(self.default) <= duration(self.max)`,
    );
  });

  test('has the longest backoff', () => {
    expect(rules('requeue.backoff')).toContain(
      `duration(self) <= duration('${MAX_BACKOFF_SECONDS / 3600}h')`,
    );
  });

  test('has the syntax of names and cohorts', () => {
    const [name] = schemaOf(fluxsetups)['x-kubernetes-validations'] ?? [];
    expect(name?.rule).toBe(`self.metadata.name.matches('${QUEUE_NAME_PATTERN}')`);
    expect(name?.message).toContain(QUEUE_NAME_SYNTAX);
    expect(at('cohort')).toMatchObject({ pattern: COHORT_PATTERN, maxLength: 63 });
  });

  test('gives an empty FluxSetup the settings that the stack has without configuration', () => {
    const defaults = { ...QUEUE_DEFAULTS, namespace: 'science', name: 'science/a' };
    expect(settingsOf(fluxSetup('a'))).toEqual(defaults);
    const config = parseConfig({});
    expect(stackQueue(config.queue)).toEqual({
      ...QUEUE_DEFAULTS,
      namespace: null,
      name: STACK_DEFAULTS.queueName,
    });
  });
});

describe('the CRD of MiniCluster', () => {
  test('has the syntax of queue and walltime', () => {
    expect(field(miniclusters, 'queue').pattern).toBe(QUEUE_NAME_PATTERN);
    expect(field(miniclusters, 'walltime')['x-kubernetes-validations']).toEqual([
      { rule: `self.matches('${CRD_WALLTIME_PATTERN}')`, message: MINICLUSTER_WALLTIME_REQUIREMENT },
    ]);
  });

  test('takes priorities of the whole range', () => {
    expect(field(miniclusters, 'priority')).toMatchObject({ type: 'integer', format: 'int32' });
  });
});

test.each([
  ['fluxjobs', labels.FLUXJOB_GROUP, labels.FLUXJOB_VERSION],
  ['fluxsetups', labels.FLUXSETUP_GROUP, labels.FLUXSETUP_VERSION],
  ['miniclusters', labels.MINICLUSTER_GROUP, labels.MINICLUSTER_VERSION],
])('the CRD of %s has the group and version of the labels', (plural, group, version) => {
  const { spec } = crd(plural);
  expect(spec.names.plural).toBe(plural);
  expect(spec.group).toBe(group);
  expect(spec.versions.map(({ name }) => name)).toEqual([version]);
});

describe('the configuration of the runtime', () => {
  test('has the defaults', () => {
    const { units, fairShare, fluxion, queue, grants } = parseConfig({});
    expect(units).toEqual(STACK_DEFAULTS.units);
    expect(grants).toEqual(STACK_DEFAULTS.grants);
    expect(fairShare.halfLifeSeconds).toBe(STACK_DEFAULTS.halfLifeSeconds);
    expect(fluxion.policy).toBe(STACK_DEFAULTS.matchPolicy);
    expect(queue.retentionDays).toBe(STACK_DEFAULTS.retentionDays);
    expect(queue.archiveDays).toBe(STACK_DEFAULTS.archiveDays);
    expect(queue.recordsPerHour).toBe(STACK_DEFAULTS.recordsPerHour);
  });

  test.each(QUEUE_POLICIES)('takes the queue policy %s', (policy) => {
    expect(parseConfig({ queue: { policy } }).queue.policy).toBe(policy);
  });

  test.each(MATCH_POLICIES)('takes the match policy %s', (policy) => {
    expect(parseConfig({ fluxion: { policy } }).fluxion.policy).toBe(policy);
  });
});

describe('the CEL policies', () => {
  const chart = new Chart(new App(), 'test');
  new AdmissionGuards(chart, 'guards');
  new KindGuards(chart, 'kinds');
  const policies = Testing.synth(chart) as { kind: string; metadata: { name: string }; spec: unknown }[];
  const problemsOf = (guard: string): readonly string[] => {
    const { spec } = policies.find(
      ({ kind, metadata }) =>
        kind === 'ValidatingAdmissionPolicy' && metadata.name === `fluxqueue-guard-${guard}`,
    )!;
    const { variables } = spec as { variables: { name: string; expression: string }[] };
    const all = variables.find(({ name }) => name === 'settingProblems')!.expression;
    const each = variables.filter(({ name }) => /^settingProblems[0-9]+$/.test(name));
    expect(all).toBe(each.map(({ name }) => `variables.${name}`).join(' + '));
    return each.map(({ expression }) => expression);
  };
  /** What is wrong with each setting, as a list of one expression for each. */
  const problems = ['job-settings', 'pod-settings'].map(problemsOf);
  const about = (key: string) =>
    problems.map((list) => list.filter((expression) => expression.includes(`[\\"${key}\\"]`)));

  test('are one for Jobs and workload kinds, and one for Pods', () => {
    expect(problems).toHaveLength(2);
    const shared = Object.keys(SETTING_SYNTAX).length;
    expect(problems[0]!.slice(-shared)).toEqual(problems[1]!.slice(-shared));
    expect(problemsOf('kind-settings')).toEqual(problems[0]);
  });

  test.each(Object.entries(SETTING_SYNTAX))('match %s with the same pattern and words', (key, syntax) => {
    for (const found of about(key)) {
      expect(found).toHaveLength(1);
      expect(found[0]).toContain(`.matches(${JSON.stringify(syntax.pattern)})`);
      expect(found[0]).toContain(JSON.stringify(syntax.requirement).slice(1, -1));
      expect(() => workloadSettings({ annotations: { [key]: '\n' } })).toThrow(
        `: ${syntax.requirement} (got`,
      );
    }
  });

  test.each(GROUP_SETTINGS)('refuse %s of a Job, and check it of a Pod, with the same words', (key) => {
    const [ofJobs, ofPods] = about(key) as [string[], string[]];
    expect(ofJobs).toEqual([expect.stringContaining(NOT_OF_JOBS_PROBLEM)]);
    expect(() => workloadSettings({ labels: { [key]: '4' } })).toThrow(`: ${NOT_OF_JOBS_PROBLEM} (got "4")`);
    const { pattern, requirement } = GROUP_SYNTAX[key];
    expect(ofPods).toEqual([
      expect.stringContaining(`.matches(${JSON.stringify(pattern)})`),
      expect.stringContaining(GROUP_PAIR_PROBLEM[key]),
    ]);
    expect(ofPods[0]).toContain(JSON.stringify(requirement).slice(1, -1));
    expect(() => podSettings({ labels: { [key]: '-' } })).toThrow(`: ${requirement} (got "-")`);
    expect(() => podSettings({ labels: { [key]: '4' } })).toThrow(`: ${GROUP_PAIR_PROBLEM[key]} (got "4")`);
  });

  test('check nothing else', () => {
    const known = Object.keys(SETTING_SYNTAX).length + GROUP_SETTINGS.length;
    expect(problems.map(({ length }) => length)).toEqual([known, known + GROUP_SETTINGS.length]);
  });

  test('have the units of durations and the ranges', () => {
    const walltime = about(labels.WALLTIME)[0]?.[0] ?? '';
    for (const [unit, seconds] of Object.entries(DURATION_UNITS)) {
      const factor = new RegExp(`"${unit}": ([0-9.e-]+)`).exec(walltime)?.[1];
      expect(Number(factor)).toBe(seconds);
    }
    expect(walltime).toContain(`<= ${MAX_WALLTIME_SECONDS}.0`);
    const priority = about(labels.PRIORITY)[0]?.[0];
    expect(priority).toContain(`>= ${PRIORITY_RANGE.min} `);
    expect(priority).toContain(`<= ${PRIORITY_RANGE.max}`);
  });
});
