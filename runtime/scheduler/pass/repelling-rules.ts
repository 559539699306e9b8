/** Pods that keep others out of their group of nodes, as the rules by which they do: thousands of pods may have the same one. */
import { isAbout, type PodTraits } from '../../jobspec/placement-rules';
import type { GroupRule, SelectedPods } from '../../jobspec/types';

/** Of rules whose pods need none of certain labels. */
const ANY_LABEL = '';

export class RepellingRules {
  /** By the namespace and a label of the pods that a rule is about; those of all namespaces are with `undefined`. */
  private readonly rules = new Map<string | undefined, Map<string, SelectedPods[]>>();
  private readonly known = new Set<string>();

  get isEmpty(): boolean {
    return this.known.size === 0;
  }

  /** @returns whether there was no such rule yet */
  add(rule: GroupRule): boolean {
    const text = textOf(rule);
    if (this.known.has(text)) return false;
    this.known.add(text);
    for (const namespace of rule.namespaces ?? [undefined]) {
      const byLabel = this.rules.get(namespace) ?? new Map<string, SelectedPods[]>();
      this.rules.set(namespace, byLabel);
      for (const label of labelsOf(rule)) {
        const known = byLabel.get(label);
        if (known === undefined) byLabel.set(label, [rule]);
        else known.push(rule);
      }
    }
    return true;
  }

  /** Whether one of the rules is about pods with these traits. */
  repel(traits: PodTraits): boolean {
    const labels = Object.entries(traits.labels).map(([key, value]) => labelText(key, value));
    return [traits.namespace, undefined].some((namespace) => {
      const byLabel = this.rules.get(namespace);
      if (byLabel === undefined) return false;
      return [ANY_LABEL, ...labels].some((label) =>
        byLabel.get(label)?.some((rule) => isAbout(rule, traits)),
      );
    });
  }
}

/** Labels of which every pod has one that the rule is about. */
function labelsOf({ selector }: SelectedPods): readonly string[] {
  if (selector === undefined) return [];
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const [first] = Object.entries(matchLabels);
  if (first !== undefined) return [labelText(...first)];
  const listed = matchExpressions.find(({ operator }) => operator === 'In');
  if (listed === undefined) return [ANY_LABEL];
  return (listed.values ?? []).map((value) => labelText(listed.key, value));
}

function labelText(key: string, value: string): string {
  return `${key}=${value}`;
}

/** A rule never changes, and every pass reads those of all pods. */
const texts = new WeakMap<GroupRule, string>();

function textOf(rule: GroupRule): string {
  const text = texts.get(rule) ?? JSON.stringify([rule.namespaces, rule.selector]);
  texts.set(rule, text);
  return text;
}
