/**
 * The stack in every combination of the values that change which objects it has. Texts that a value sets have marks in their
 * place, which the templates replace (templates.ts).
 */
import { App, Testing } from 'cdk8s';
import { Secret } from 'cdk8s-plus-28';
import { Database, defaultStack, type FluxQueueProps } from '../../constructs/fluxqueue';

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

/** Marks by the path of their value. A port is a number, and no other number of the manifests has five equal digits. */
export const MARKS = {
  namespace: 'helm-mark-namespace',
  monitoringNamespace: 'helm-mark-monitoring',
  'images.runtime': 'helm-mark.invalid/runtime:1',
  'images.fluxion': 'helm-mark.invalid/fluxion:1',
  'images.postgres': 'helm-mark.invalid/postgres:1',
  'database.secret.name': 'helm-mark-secret-name',
  'database.secret.key': 'helm-mark-secret-key',
  'database.secret.port': '55555',
} as const;

/** A value that changes the objects: for each option the condition in a template, and the props. */
interface Choice {
  readonly value: string;
  readonly options: readonly { readonly when: string; readonly props: FluxQueueProps }[];
}

const is = (path: string, option: string) => `eq .Values.${path} "${option}"`;
const when = (path: string, props: FluxQueueProps, otherwise: FluxQueueProps): Choice => ({
  value: path,
  options: [
    { when: `.Values.${path}`, props },
    { when: `not .Values.${path}`, props: otherwise },
  ],
});

function choices(): readonly Choice[] {
  const secret = Secret.fromSecretName(new App(), 'secret', MARKS['database.secret.name']);
  const databases = {
    statefulSet: Database.statefulSet({ image: MARKS['images.postgres'] }),
    secret: Database.fromSecret(secret, {
      key: MARKS['database.secret.key'],
      port: Number(MARKS['database.secret.port']),
    }),
    cloudNativePg: Database.cloudNativePg(),
  };
  return [
    {
      value: 'admission',
      options: (['webhook', 'policies', 'both'] as const).map((admission) => ({
        when: is('admission', admission),
        props: { admission },
      })),
    },
    {
      value: 'database.kind',
      options: Object.entries(databases).map(([kind, database]) => ({
        when: is('database.kind', kind),
        props: { database },
      })),
    },
    when('clusterWide', { clusterWide: true }, {}),
    when('miniClusters', {}, { miniClusters: false }),
    when('readApi', {}, { readApi: false }),
    when('monitoringNamespace', { monitoringNamespace: MARKS.monitoringNamespace }, {}),
  ];
}

/** One object of the stack in the combinations that have it. */
export interface Variant {
  readonly layer: string;
  readonly object: KubeObject;
  /** Conditions, all of which hold; none if every stack has the object in this form. */
  readonly conditions: readonly (readonly string[])[];
}

interface Combination {
  /** Index of the option of each choice. */
  readonly options: readonly number[];
  readonly objects: ReadonlyMap<string, { readonly layer: string; readonly object: KubeObject }>;
}

/** The stacks of all choices, and their objects. */
export class Stacks {
  private readonly choices = choices();
  private readonly combinations = product(this.choices.map(({ options }) => options.length)).map(
    (options): Combination => ({ options, objects: stackOf(this.choices, options) }),
  );
  private readonly keys = new Set(this.combinations.flatMap(({ objects }) => [...objects.keys()]));

  /** Every form of every object, with its conditions. @param change applied to each object */
  variants(change: (object: KubeObject) => KubeObject): Variant[] {
    // Most objects are equal in most stacks.
    const changed = new Map<string, KubeObject>();
    const changeOnce = (object: KubeObject) => {
      const text = JSON.stringify(object);
      const known = changed.get(text) ?? change(object);
      changed.set(text, known);
      return known;
    };
    const combinations = this.combinations.map(({ options, objects }) => ({
      options,
      objects: new Map(
        [...objects].map(([key, { layer, object }]) => [key, { layer, object: changeOnce(object) }]),
      ),
    }));
    return [...this.keys].flatMap((key) => formsOf(key, combinations, this.choices));
  }
}

function stackOf(all: readonly Choice[], options: readonly number[]): Combination['objects'] {
  const app = new App();
  defaultStack(app, {
    namespace: MARKS.namespace,
    runtimeImage: MARKS['images.runtime'],
    fluxionImage: MARKS['images.fluxion'],
    ...Object.assign({}, ...all.map((choice, index) => choice.options[options[index]!]!.props)),
  });
  const found = app.charts.flatMap((chart) =>
    (Testing.synth(chart) as KubeObject[]).map((object) => ({ layer: chart.node.id, object })),
  );
  return new Map(found.map((each) => [keyOf(each.object), each]));
}

export function keyOf({ apiVersion, kind, metadata }: KubeObject): string {
  return `${apiVersion} ${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}

function formsOf(key: string, combinations: readonly Combination[], all: readonly Choice[]): Variant[] {
  const textOf = ({ objects }: Combination) => JSON.stringify(objects.get(key)?.object);
  const texts = new Map(combinations.map((each) => [each.options.join(), textOf(each)]));
  const matters = all.map((choice, index) =>
    combinations.some(({ options }) =>
      choice.options.some(
        (_, other) => texts.get(options.with(index, other).join()) !== texts.get(options.join()),
      ),
    ),
  );
  const forms = new Map<string, Variant & { conditions: string[][] }>();
  const seen = new Set<string>();
  for (const combination of combinations) {
    const found = combination.objects.get(key);
    const conditions = all.flatMap(({ options }, index) =>
      matters[index] ? [options[combination.options[index]!]!.when] : [],
    );
    if (found === undefined || seen.has(conditions.join())) continue;
    seen.add(conditions.join());
    const text = textOf(combination);
    const form = forms.get(text) ?? { ...found, conditions: [] };
    if (conditions.length > 0) form.conditions.push(conditions);
    forms.set(text, form);
  }
  return [...forms.values()];
}

function product(sizes: readonly number[]): number[][] {
  return sizes.reduce<number[][]>(
    (before, size) =>
      before.flatMap((each) => Array.from({ length: size }, (_, option) => [...each, option])),
    [[]],
  );
}
