/** The queues: each opted-in namespace has one that serves its workloads. */
import { type FluxSetupObject, fluxSetups } from '../../kubernetes/custom-resources';
import { settingsOf } from './backends';
import { type Context, counted, error, type Finding, listed, ok, secondsSince, warning } from './finding';
import { optedIn } from './namespaces';

/** Seconds after which a controller has judged an object, or there is none. */
const JUDGED_SECONDS = 60;

export async function checkFluxSetups(context: Context): Promise<readonly Finding[]> {
  const all = await context.reader.list<FluxSetupObject>(fluxSetups());
  const findings = all.flatMap((each) => fluxSetupFindings(each, context.now));
  const settings = await settingsOf(context);
  if (settings?.queue?.enabled === false) {
    const served = new Set(all.map(({ metadata }) => metadata.namespace));
    const without = (await optedIn(context)).filter(({ metadata }) => !served.has(metadata.name));
    findings.push(...withoutQueue(without.map(({ metadata }) => metadata.name)));
  }
  if (findings.length > 0) return findings;
  const own = settings?.queue?.enabled === false ? '' : 'the queue of the stack and ';
  return [ok(`in service: ${own}${counted(all.length, 'FluxSetup')}`)];
}

/** @internal exported for tests */
export function withoutQueue(namespaces: readonly string[]): readonly Finding[] {
  if (namespaces.length === 0) return [];
  return [
    warning(
      `opted-in namespaces have no FluxSetup, and the stack has no queue of its own, so their workloads wait: ${listed(namespaces)}`,
      'create a FluxSetup in each of them, or give the stack the prop queue',
    ),
  ];
}

/** @internal exported for tests */
export function fluxSetupFindings(
  { metadata, status }: Pick<FluxSetupObject, 'metadata' | 'status'>,
  now: number,
): readonly Finding[] {
  const name = `FluxSetup ${metadata.namespace}/${metadata.name}`;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready !== undefined && `${ready.status}` === 'False')
    return [error(`${name} is not in service: ${ready.message}`, 'correct its spec as the sentence says')];
  const isCurrent = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 1);
  if (isCurrent || secondsSince(metadata.creationTimestamp, now) < JUDGED_SECONDS) return [];
  return [
    warning(
      `no controller has judged ${name} as it is now`,
      'if no controller leads, see that finding; else look again in a minute',
    ),
  ];
}
