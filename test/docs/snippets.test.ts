/** Every TypeScript and YAML snippet of README and docs: it compiles, it synthesizes, and what it makes is valid and can start. */

import { FluxQueueValidation, type FluxQueueValidationProps } from '../../constructs';
import { type Manifest, podSpec } from '../../constructs/validation/manifest';
import { type RuleName, rules } from '../../constructs/validation/rules';
import { podValues } from '../../release/helm/pods';
import { type Schema, VALUES, valuesSchema } from '../../release/helm/values';
import type { KubeObject as HelmObject } from '../../release/helm/variants';
import type { KubeObject } from '../cluster/api';
import { stackObjects } from '../constructs/manifests';
import { compile, programOf, snippets, synthesize, yamlDocuments } from './snippets';

const PROGRAMS = snippets('ts').map((snippet) => [snippet.place, programOf(snippet)] as const);
/** Rules that say whether an object is right, not how a team wants its images and requests. */
const RULES: readonly RuleName[] = ['no-plaintext-secret', 'no-object-twice', 'minicluster', 'fluxsetup'];

function problems(objects: readonly KubeObject[]): string[] {
  const all = rules({ requireDigest: false });
  return RULES.flatMap((name) => objects.flatMap((object) => all[name].check(object as unknown as Manifest)));
}

/** Secrets that the pods of these objects wait for, and that nothing makes. */
function missingSecrets(objects: readonly KubeObject[]): string[] {
  const made = new Set(objects.filter(({ kind }) => kind === 'Secret').map(({ metadata }) => metadata.name));
  const mounted = objects.flatMap((object) => {
    const volumes =
      podSpec(object as unknown as Manifest)
        ?.field('volumes')
        .items() ?? [];
    return volumes.map((volume) => volume.field('secret.secretName').value);
  });
  return mounted.filter((name): name is string => typeof name === 'string' && !made.has(name));
}

test('there are snippets of each page that shows code', () => {
  const pages = new Set(PROGRAMS.map(([place]) => place.split(':')[0]));
  expect([...pages]).toEqual(
    expect.arrayContaining([
      'README.md',
      'docs/construct.md',
      'docs/gitops.md',
      'docs/miniclusters.md',
      'docs/queues.md',
    ]),
  );
});

test('every TypeScript snippet compiles', () => {
  expect(compile(PROGRAMS.map(([, program]) => program))).toBe('');
});

test.each(PROGRAMS)(
  '%s synthesizes valid objects, and its pods wait for no Secret that nobody makes',
  (_, program) => {
    const objects = synthesize(program);
    expect(problems(objects)).toEqual([]);
    expect(missingSecrets(objects)).toEqual([]);
  },
);

/** Fields that a schema of values does not have. */
function unknownValues(value: unknown, { properties }: Schema, path: string): string[] {
  if (properties === undefined) return [];
  return Object.entries(value as object).flatMap(([key, each]) => {
    const schema = (properties as Readonly<Record<string, Schema>>)[key];
    return schema === undefined ? [`${path}.${key}`] : unknownValues(each, schema, `${path}.${key}`);
  });
}

test.each(yamlDocuments().map(({ place, document }) => [place, document] as const))(
  'the YAML of %s is valid',
  (place, document) => {
    const { kind, validations } = document as { kind?: string; validations?: { properties: object }[] };
    if (kind !== undefined) expect(problems([document as KubeObject])).toEqual([]);
    else if (validations !== undefined)
      for (const { properties } of validations)
        new FluxQueueValidation(properties as FluxQueueValidationProps);
    else {
      expect(place).toContain('helm.md');
      const schema = valuesSchema([...VALUES, ...podValues(stackObjects() as unknown as HelmObject[])]);
      expect(unknownValues(document, schema, '')).toEqual([]);
    }
  },
);
