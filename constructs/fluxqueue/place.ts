/** Checks of the place of a stack: its app, its chart and its namespace. */
import type { IConstruct } from 'constructs';
import { PropsError } from '../api/errors';
import { enclosingChart } from './layers';

/** Namespaces that other programs than the stack use; the stack denies all other connections and pods in its namespace. */
const SHARED_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** @throws PropsError for a name that is not one of a namespace */
export function checkNamespaceName(field: string, name: string): void {
  if (typeof name === 'string' && LABEL.test(name)) return;
  throw new PropsError(
    field,
    'is not the name of a namespace',
    name,
    'give at most 63 lower-case letters, digits and "-", with a letter or digit at both ends',
  );
}

/** @throws PropsError for a namespace that cannot be that of the stack */
export function checkStackNamespace(name: string): void {
  checkNamespaceName('FluxQueue.namespace', name);
  if (!SHARED_NAMESPACES.includes(name)) return;
  throw new PropsError(
    'FluxQueue.namespace',
    'is used by other programs, whose pods and connections the stack would deny',
    name,
    'give a namespace that only the stack uses',
  );
}

/** @throws PropsError if the chart around the stack has a namespace */
export function checkChart(stack: IConstruct): void {
  const namespace = enclosingChart(stack)?.namespace;
  if (namespace === undefined) return;
  throw new PropsError(
    'FluxQueue',
    'is in a chart with a namespace, which cdk8s would also write to its cluster-scoped objects',
    namespace,
    "remove the chart's namespace, and give namespace to FluxQueue",
  );
}

/** A stack, and the name of its cluster if the app has several. */
interface Stack extends IConstruct {
  readonly cluster: string | undefined;
}

/**
 * Two stacks in one cluster would overwrite each other: their CRDs, cluster roles and admission have the same names.
 * @throws PropsError if the app has another stack for the same cluster
 */
export function checkOnlyStack(stack: Stack, isStack: (construct: IConstruct) => construct is Stack): void {
  const others = stack.node.root.node.findAll().filter(isStack);
  const other = others.find((each) => each !== stack && each.cluster === stack.cluster);
  if (other === undefined) return;
  throw new PropsError(
    'FluxQueue.cluster',
    `is that of ${other.node.path} too, and a cluster has one stack`,
    stack.cluster ?? 'the only cluster',
    'remove one of the stacks; if they are for different clusters, give each of them the name of its cluster',
  );
}
