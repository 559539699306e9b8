/** CEL that refuses more labels and annotations than constructs/api/metadata-limits.ts allows. */
import { MAX_METADATA } from '../../api/metadata-limits';
import { POD_LIMIT_CODE } from '../../api/pod-limits';
import type { WorkloadKind } from '../../api/workload-kinds';
import type { GuardPart } from './guard-parts';
import { newSetsIn } from './kind-fields';
import { cel, notTheController } from './scope';

type Props = Parameters<typeof notTheController>[0];

/** CEL: how many the metadata of `value` has. @param holder fields from it to the one with the metadata */
function countIn(value: string, holder: readonly string[]): string {
  const metadata = [value, ...[...holder, 'metadata'].map((key) => `?${key}`)].join('.');
  return `(${['labels', 'annotations'].map((map) => `${metadata}.?${map}.orValue({}).size()`).join(' + ')})`;
}

function sentence(field: string, most: number, count: string): string {
  return (
    `${cel(`${POD_LIMIT_CODE}: ${field}: must have at most ${most} labels and annotations (got `)} + ` +
    `string(${count}) + ${cel('); keep data in a ConfigMap')}`
  );
}

/** Of an object that is older than the rule the number may not grow. */
function partOf(holder: readonly string[], most: number, props: Props): GuardPart {
  const [now, old] = ['object', 'oldObject'].map((object) => countIn(object, holder));
  return {
    name: ['metadata', ...holder].join('_'),
    when: `${now} > ${most} && (oldObject == null || ${now} > ${old}) && ${notTheController(props).expression}`,
    variables: [],
    problem: sentence([...holder, 'metadata'].join('.'), most, now!),
  };
}

export const metadataPart = (props: Props) => partOf([], MAX_METADATA.object, props);
export const templateMetadataPart = (props: Props) =>
  partOf(['spec', 'template'], MAX_METADATA.templateOfJob, props);

/** The templates of the pods, and of the Jobs, of an object of a workload kind. */
export function kindMetadataPart(kind: WorkloadKind): GuardPart {
  const { in: sets, template, jobMetadata } = kind.podSets;
  const holders = [template, ...(jobMetadata === undefined ? [] : [jobMetadata.slice(0, -1)])];
  const counts = `[${holders.map((holder) => countIn('set', holder)).join(', ')}]`;
  const many =
    `${newSetsIn(kind)}.map(set, ${counts}.filter(count, count > ${MAX_METADATA.templateOfKind}))` +
    '.filter(counts, counts.size() > 0)';
  return {
    name: 'metadata_of_templates',
    when: `${many}.size() > 0`,
    variables: [],
    problem: sentence(sets.join('.'), MAX_METADATA.templateOfKind, `${many}[0][0]`),
  };
}
