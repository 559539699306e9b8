/** Templates of Helm from manifests with marks: an object in each of its forms, and the configuration as a named template. */
import { Yaml } from 'cdk8s';
import { parse } from 'yaml';
import { CONFIG_FILE_NAME } from '../../constructs/api/labels';
import { OTHERS, type Parameter, withField } from './pods';
import { CONFIGURED } from './values';
import { type KubeObject, MARKS, type Variant } from './variants';

/** Named template with the text of the configuration. */
const CONFIG = 'fluxqueue.config';
/** The ConfigMap of the configuration, whose name has a hash of its content. */
const CONFIG_MAP = /\bfluxqueue-config-[0-9a-f]{16}\b/g;

/** Kinds that a value leaves out. */
const TOGGLES: Readonly<Record<string, string>> = {
  Namespace: '.Values.createNamespace',
  NetworkPolicy: '.Values.networkPolicies',
  FlowSchema: '.Values.flowSchemas',
};

const placeholder = (as: string, value: string) => `@@${as}@@${value}@@`;
const CONFIG_MAP_NAME = `fluxqueue-config-${placeholder('hash', CONFIG)}`;

/** Puts placeholders into the fields that values set. */
export function withPlaceholders(object: KubeObject, parameters: readonly Parameter[]): KubeObject {
  const own = [...parameters, ...OTHERS].filter(
    ({ kind, name }) => kind === object.kind && name === object.metadata.name,
  );
  const placed = own.reduce(
    (each, { path, as, value }) => withField(each, path, placeholder(as, value)),
    object,
  );
  const text = JSON.stringify(placed).replaceAll(CONFIG_MAP, CONFIG_MAP_NAME);
  return JSON.parse(text) as KubeObject;
}

/** The text of the configuration in a ConfigMap of the stack, with placeholders. */
function configuration({ data }: KubeObject): string {
  const settings = parse((data as Record<string, string>)[CONFIG_FILE_NAME]!) as Record<string, unknown>;
  for (const path of CONFIGURED) {
    const [last, ...parents] = path.split('.').reverse() as [string, ...string[]];
    let at = settings;
    for (const key of parents.reverse()) at = (at[key] ?? {}) as Record<string, unknown>;
    // An existing database has no volume of the stack.
    if (at[last] !== undefined) at[last] = placeholder('plain', path);
  }
  return Yaml.stringify(settings);
}

/** The templates by file name. */
export function templates(forms: readonly Variant[]): Record<string, string> {
  const isConfig = ({ object }: Variant) => object.metadata.name === CONFIG_MAP_NAME;
  const configs = forms.filter(isConfig);
  const others = forms.filter((form) => !isConfig(form));
  const [{ object, layer }] = configs as [Variant];
  const map = { ...object, data: { [CONFIG_FILE_NAME]: placeholder('config', CONFIG) } };
  const files: Record<string, string> = { '_config.tpl': namedTemplate(configs) };
  for (const form of [...others, { object: map, layer, conditions: [] }])
    files[`${form.layer}.yaml`] = `${files[`${form.layer}.yaml`] ?? ''}${template(form)}`;
  return files;
}

function namedTemplate(forms: readonly Variant[]): string {
  const parts = forms.map(
    ({ object, conditions }, index) =>
      `{{${index === 0 ? '-' : ''} ${index === 0 ? 'if' : 'else if'} ${condition(conditions)} -}}\n${filled(configuration(object), false)}`,
  );
  return `{{- define "${CONFIG}" -}}\n${parts.join('')}{{ end }}\n{{- end }}\n`;
}

function template({ object, conditions }: Variant): string {
  const toggle = TOGGLES[object.kind];
  const all = [
    ...(toggle === undefined ? [] : [toggle]),
    ...(conditions.length === 0 ? [] : [condition(conditions)]),
  ];
  const text = `---\n${filled(Yaml.stringify(object))}`;
  if (all.length === 0) return text;
  return `{{- if ${all.length === 1 ? all[0] : `and ${all.map((each) => `(${each})`).join(' ')}`} }}\n${text}{{- end }}\n`;
}

/** One of several lists of conditions, all of which hold. */
function condition(any: readonly (readonly string[])[]): string {
  const each = any.map((all) =>
    all.length === 1 ? all[0]! : `and ${all.map((one) => `(${one})`).join(' ')}`,
  );
  return each.length === 1 ? each[0]! : `or ${each.map((one) => `(${one})`).join(' ')}`;
}

/**
 * The text with the actions of templates.
 * @param quotes whether a value is quoted; the schema admits no text for the configuration that needs it
 */
function filled(text: string, quotes = true): string {
  // What looks like an action is none.
  let result = text.replaceAll('{{', '{{ "{{" }}');
  result = result.replace(/^( *)([\w./-]+): "?@@block@@([\w.]+)@@"?$/gm, (_, indent: string, key, path) =>
    [
      `{{- with .Values.${path} }}`,
      `${indent}${key}:`,
      `{{ toYaml . | indent ${indent.length + 2} }}`,
      '{{- end }}',
    ].join('\n'),
  );
  result = result.replace(/^( *)([\w./-]+): "?@@optional text@@([\w.]+)@@"?$/gm, (_, indent, key, path) =>
    [`{{- with .Values.${path} }}`, `${indent}${key}: {{ quote . }}`, '{{- end }}'].join('\n'),
  );
  const actions: Readonly<Record<string, (value: string) => string>> = {
    number: (value) => `{{ int64 .Values.${value} }}`,
    text: (value) => `{{ quote .Values.${value} }}`,
    plain: (value) =>
      /Seconds$|Days$|depth$/.test(value) ? `{{ int64 .Values.${value} }}` : `{{ .Values.${value} }}`,
    hash: (name) => `{{ include "${name}" . | sha256sum | trunc 16 }}`,
    config: (name) => `{{ include "${name}" . | quote }}`,
  };
  result = result.replace(/"?@@(\w+)@@([\w.]+)@@"?/g, (_, as: string, value: string) => actions[as]!(value));
  for (const [path, mark] of Object.entries(MARKS)) result = withMark(result, path, mark, quotes);
  return result;
}

/** A mark that is a whole value is quoted, because a text of digits would become a number. */
function withMark(text: string, path: string, mark: string, quotes: boolean): string {
  const action = path === 'database.secret.port' ? `int64 .Values.${path}` : `.Values.${path}`;
  if (/^\d+$/.test(mark)) return text.replaceAll(mark, `{{ ${action} }}`);
  const whole = new RegExp(`(: |- )${mark.replaceAll('.', '\\.')}$`, 'gm');
  const quoted = quotes ? text.replace(whole, `$1{{ quote .Values.${path} }}`) : text;
  return quoted.replaceAll(mark, `{{ ${action} }}`);
}
