/** The files of the chart, made from the stack. */
import { Yaml } from 'cdk8s';
import manifest from '../../package.json';
import { podValues } from './pods';
import { templates, withPlaceholders } from './templates';
import { VALUES, valuesFile, valuesSchema } from './values';
import { Stacks } from './variants';

const CHECKS = `{{- if and .Values.monitoringNamespace (not .Values.networkPolicies) }}
{{- fail "monitoringNamespace requires networkPolicies, because the metrics have no authentication" }}
{{- end }}
`;

const NOTES = `The stack is in the namespace {{ .Values.namespace }}.
Enable a namespace for the queue: kubectl label namespace NAME fluxqueue/enabled=true
helm uninstall keeps the CRDs, the namespace and the database; see "Prune and uninstall" in docs/gitops.md.
`;

/** The files by path. */
export function chartFiles(): Record<string, string> {
  const stacks = new Stacks();
  // The defaults of pods are those of a stack with all of them.
  const defaults = stacks.variants((object) => object).map(({ object }) => object);
  const pods = podValues(defaults);
  const parameters = pods.map(({ parameter }) => parameter);
  const forms = stacks.variants((object) => withPlaceholders(object, parameters));
  const values = [...VALUES, ...pods];
  const { version, description } = manifest;
  const chart = {
    apiVersion: 'v2',
    name: 'fluxqueue',
    description,
    type: 'application',
    version,
    appVersion: version,
    kubeVersion: '>=1.30.0-0',
  };
  return {
    'Chart.yaml': Yaml.stringify(chart),
    'values.yaml': valuesFile(values),
    'values.schema.json': `${JSON.stringify(valuesSchema(values), undefined, 2)}\n`,
    'templates/checks.yaml': CHECKS,
    'templates/NOTES.txt': NOTES,
    ...Object.fromEntries(
      Object.entries(templates(forms)).map(([name, text]) => [`templates/${name}`, text]),
    ),
  };
}
