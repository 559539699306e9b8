/** Synthesizes the stack in memory and finds its objects by kind and name. */
import { App, Testing } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import { parse } from 'yaml';
import { defaultStack, type FluxQueueProps } from '../../constructs/fluxqueue';
import { parseConfig } from '../../runtime/config';
import type { KubeObject } from '../cluster/api';

/** Props that add every component that the defaults leave out. */
export const LARGEST_STACK: FluxQueueProps = {
  kubernetesVersion: '1.37.1',
  scheduler: true,
  clusterWide: true,
};

/** Every object of the stack, in the order of its files. */
export function stackObjects(props: FluxQueueProps = {}): KubeObject[] {
  const app = new App();
  defaultStack(app, props);
  return appObjects(app);
}

function appObjects(app: App): KubeObject[] {
  return app.charts.flatMap((chart) => Testing.synth(chart) as KubeObject[]);
}

/** The object of this kind and name. @throws when there is none or more than one */
export function find<T = KubeObject>(objects: readonly KubeObject[], kind: string, name: string): T {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name === name);
  if (found.length !== 1) throw new Error(`${found.length} objects are ${kind} ${name}`);
  return found[0] as T;
}

/** `kind/name` of each object. */
export function names(objects: readonly KubeObject[]): string[] {
  return objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
}

export interface PodTemplate {
  readonly owner: string;
  readonly metadata: {
    readonly labels: Record<string, string>;
    readonly annotations?: Record<string, string>;
  };
  readonly spec: k8s.PodSpec;
}

/** The pod templates of every Deployment and StatefulSet. */
export function podTemplates(objects: readonly KubeObject[]): PodTemplate[] {
  return objects
    .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
    .map(({ metadata, spec }) => ({
      owner: metadata.name ?? '',
      ...(spec as { template: Omit<PodTemplate, 'owner'> }).template,
    }));
}

export function container(template: PodTemplate, name: string): k8s.Container {
  const found = [...(template.spec.initContainers ?? []), ...template.spec.containers].find(
    (each) => each.name === name,
  );
  if (found === undefined) throw new Error(`${template.owner} has no container ${name}`);
  return found;
}

/** The file that the pods of a Deployment mount as their configuration, if it is there. */
export function configurationFile(
  objects: readonly KubeObject[],
  deployment = 'fluxqueue-controller',
): string | undefined {
  const template = podTemplates(objects).find(({ owner }) => owner === deployment);
  const volume = template?.spec.volumes?.find(({ name }) => name === 'config');
  const file = objects.find(
    ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === volume?.configMap?.name,
  ) as { data?: Record<string, string> } | undefined;
  return file?.data?.['config.yaml'];
}

/** The configuration of the stack as the runtime parses it. */
export function configurationOf(objects: readonly KubeObject[]): ReturnType<typeof parseConfig> {
  return parseConfig(parse(configurationFile(objects) ?? ''));
}
