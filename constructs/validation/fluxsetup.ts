/** The rules of the construct FluxSetup for manifests: single fields by the schema of the CRD, their combinations by its props. */
import { Duration, Size } from 'cdk8s';
import { Cpu } from 'cdk8s-plus-28';
import crds from '../../imports/crds.json';
import { amountOf } from '../api/amounts';
import { parseDuration } from '../api/durations';
import { PropsError } from '../api/errors';
import type { FluxSetupProps, LendingLimit } from '../fluxsetup/props';
import { checkQueueName, checkSetup } from '../fluxsetup/validation';
import { type Manifest, Place } from './manifest';
import { type Schema, schemaProblems } from './schema';

/** Every mistake in a FluxSetup. */
export function fluxSetupProblems(manifest: Manifest): string[] {
  const spec = new Place(manifest, '').field('spec');
  const bySchema = schemaProblems(spec, specSchema()).map(withField);
  // The other rules rely on the types of the fields.
  if (bySchema.length > 0) return bySchema;
  return combinationProblems(manifest.metadata.name, spec);
}

/** Props of the construct FluxSetup that have another name in YAML. */
const FIELDS: Readonly<Record<string, string>> = {
  name: 'metadata.name',
  namespace: 'metadata.namespace',
  defaultWalltime: 'spec.walltime.default',
  maxWalltime: 'spec.walltime.max',
  minPriority: 'spec.priority.min',
  maxPriority: 'spec.priority.max',
  limitsPerUser: 'spec.limits.perUser',
  preempts: 'spec.preemption.policy',
  fairSharing: 'spec.preemption.fairSharing',
  preemptionMinRuntime: 'spec.preemption.minRuntime',
  preemptionLimit: 'spec.preemption.limit',
  requeueLimit: 'spec.requeue.limit',
  requeueBackoff: 'spec.requeue.backoff',
};

function withField(problem: string): string {
  const field = FIELDS[/^spec\.(\w+): is not a field$/.exec(problem)?.[1] ?? ''];
  return field === undefined ? problem : `${problem}, but a prop of the construct; in YAML use ${field}`;
}

function combinationProblems(name: string, spec: Place): string[] {
  try {
    checkQueueName('metadata.name', name);
    checkSetup(propsOf(spec));
    return [];
  } catch (error) {
    if (!(error instanceof PropsError)) throw error;
    return [error.message.replace(`${error.code}: `, '')];
  }
}

/** The props that make this spec: the schema knows the form of the amounts. */
function propsOf(spec: Place): FluxSetupProps {
  const at = <T>(path: string) => spec.field(path).value as T | undefined;
  const given: Record<string, unknown> = {
    policy: at('policy'),
    reservations: at('reservations'),
    backfillOrder: at('backfillOrder'),
    backfillMaxWait: durationAt(spec, 'backfillMaxWait'),
    defaultWalltime: durationAt(spec, 'walltime.default'),
    maxWalltime: durationAt(spec, 'walltime.max'),
    requeueBackoff: durationAt(spec, 'requeue.backoff'),
    minPriority: at('priority.min'),
    maxPriority: at('priority.max'),
    cohort: at('cohort'),
    reclaim: at('reclaim'),
    fairSharing: at('preemption.fairSharing'),
    borrowing: spec.field('borrowing').exists ? { jobs: 0 } : undefined,
    quota: amountsIn(spec.field('quota')),
    lendingLimit: amountsIn(spec.field('lendingLimit')),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function amountsIn(amounts: Place): LendingLimit | undefined {
  if (!amounts.exists) return undefined;
  const at = (resource: string) =>
    amountOf((amounts.field(resource).value as string | number | undefined) ?? '');
  const [cores, memory] = [at('cores'), at('memory')];
  const given = {
    jobs: at('jobs'),
    pods: at('pods'),
    cores: cores === undefined ? undefined : Cpu.millis(wholeOf(cores * 1000)),
    memory: memory === undefined ? undefined : Size.kibibytes(wholeOf(memory / 1024)),
    gpus: at('gpus'),
  };
  return Object.fromEntries(Object.entries(given).filter(([, amount]) => amount !== undefined));
}

/** The props know no smaller parts, and no larger numbers: those of a quota and its lending limit stay comparable. */
function wholeOf(amount: number): number {
  return Math.min(Math.ceil(amount), Number.MAX_SAFE_INTEGER);
}

function durationAt(spec: Place, path: string): Duration | undefined {
  const { value } = spec.field(path);
  const seconds = typeof value === 'string' ? parseDuration(value) : undefined;
  return seconds === undefined ? undefined : Duration.millis(seconds * 1000);
}

function specSchema(): Schema {
  const [version] = crds['fluxsetups.yaml'].spec.versions;
  return version!.schema.openAPIV3Schema.properties.spec as Schema;
}
