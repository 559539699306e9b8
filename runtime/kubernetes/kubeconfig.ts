/**
 * Finds the apiserver and the user, from kubeconfig files or in the pod. The files are read with single parsers of
 * @kubernetes/client-node: its KubeConfig class loads every generated API type (350 ms and 75 MiB at start, measured
 * with 2.0.1) and reads the certificate files again for every request.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import {
  type Cluster,
  type Context,
  newClusters,
  newContexts,
  newUsers,
  type User,
} from '@kubernetes/client-node/dist/config_types.js';
import { parse } from 'yaml';
import { FluxqError, messageOf } from '../errors';

export interface KubeconfigOptions {
  /** The file to read. @default the files in the environment variable KUBECONFIG, or ~/.kube/config, or the pod's ServiceAccount */
  readonly kubeconfig?: string;
  /** The context to use. @default the current-context of the file */
  readonly context?: string;
  /** @default process.env */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The folder with the token and CA of the pod. @default /var/run/secrets/kubernetes.io/serviceaccount */
  readonly serviceAccount?: string;
}

export interface Access {
  readonly cluster: Cluster;
  readonly user: User & { readonly tokenFile?: string };
  /** The namespace of the context, or of the pod. */
  readonly namespace: string | undefined;
  /** For messages: the file and context, or `in-cluster`. */
  readonly origin: string;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** @throws FluxqError FLUXQ_KUBECONFIG, which names the file and the problem */
export function loadAccess(options: KubeconfigOptions = {}): Access {
  const environment = options.environment ?? process.env;
  const files = candidates(options.kubeconfig, environment);
  const found = files.map((file) => ({ file, text: readText(file, options.kubeconfig !== undefined) }));
  const texts = found.filter((entry): entry is { file: string; text: string } => entry.text !== undefined);
  if (texts.length > 0)
    return accessOf(merge(texts.map(({ file, text }) => parseFile(file, text))), options.context);
  if (environment.KUBERNETES_SERVICE_HOST !== undefined)
    return inCluster(environment, options.serviceAccount);
  throw problem(
    files.join(delimiter),
    'the file does not exist, and this process is not in a pod',
    undefined,
    'give a kubeconfig or set KUBECONFIG',
  );
}

/** The contexts that the files of a user have. @throws FluxqError FLUXQ_KUBECONFIG */
export function contextNames(environment: KubeconfigOptions['environment'] = process.env): string[] {
  const contexts = candidates(undefined, environment).flatMap((file) => {
    const text = readText(file, false);
    return text === undefined ? [] : parseFile(file, text).contexts;
  });
  return [...new Set(contexts.map(({ name }) => name))];
}

function candidates(
  given: string | undefined,
  environment: NonNullable<KubeconfigOptions['environment']>,
): string[] {
  if (given !== undefined) return [given];
  const listed = (environment.KUBECONFIG ?? '').split(delimiter).filter((file) => file !== '');
  return listed.length > 0 ? listed : [join(environment.HOME ?? homedir(), '.kube', 'config')];
}

/** Undefined if the file does not exist and is not required. */
function readText(file: string, required: boolean): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (missing && !required) return undefined;
    const what = missing ? 'the file does not exist' : `can't be read: ${messageOf(error)}`;
    throw problem(file, what, undefined, 'give the path of a kubeconfig file', error);
  }
}

interface Kubeconfig {
  readonly file: string;
  readonly clusters: Cluster[];
  readonly users: Access['user'][];
  readonly contexts: Context[];
  readonly current: string | undefined;
}

function parseFile(file: string, text: string): Kubeconfig {
  const raw = parseYaml(file, text);
  try {
    const clusters = newClusters(raw.clusters);
    const users = newUsers(raw.users) as (Access['user'] & { tokenFile?: string })[];
    users.forEach((user, index) => {
      // client-node reads `token-file` once. The field of kubectl is tokenFile, and the file is rotated.
      const tokenFile = raw.users?.[index]?.user?.tokenFile;
      if (tokenFile !== undefined) user.tokenFile = absolute(file, tokenFile);
      if (user.certFile) user.certFile = absolute(file, user.certFile);
      if (user.keyFile) user.keyFile = absolute(file, user.keyFile);
    });
    for (const cluster of clusters) if (cluster.caFile) cluster.caFile = absolute(file, cluster.caFile);
    return { file, clusters, users, contexts: newContexts(raw.contexts), current: raw['current-context'] };
  } catch (error) {
    throw problem(file, messageOf(error), undefined, 'repair the file', error);
  }
}

interface RawKubeconfig {
  readonly clusters?: unknown;
  readonly users?: readonly { readonly user?: { readonly tokenFile?: string } }[];
  readonly contexts?: unknown;
  readonly 'current-context'?: string;
}

function parseYaml(file: string, text: string): RawKubeconfig {
  let raw: unknown;
  try {
    raw = parse(text);
  } catch (error) {
    throw problem(
      file,
      `is not valid YAML: ${messageOf(error).split('\n')[0]}`,
      undefined,
      'repair the file',
      error,
    );
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw problem(file, 'is not a kubeconfig', undefined, 'give a file with clusters, users and contexts');
  }
  return raw as RawKubeconfig;
}

function absolute(file: string, path: string): string {
  return isAbsolute(path) ? path : join(dirname(file), path);
}

/** As with kubectl, the first file that defines an entry wins. */
function merge(files: readonly Kubeconfig[]): Kubeconfig {
  return {
    file: files.map(({ file }) => file).join(delimiter),
    clusters: files.flatMap(({ clusters }) => clusters),
    users: files.flatMap(({ users }) => users),
    contexts: files.flatMap(({ contexts }) => contexts),
    current: files.map(({ current }) => current).find((current) => current !== undefined && current !== ''),
  };
}

function accessOf(config: Kubeconfig, wanted: string | undefined): Access {
  const name = wanted ?? config.current;
  if (name === undefined || name === '') {
    throw problem(config.file, 'has no current-context', undefined, `name one of: ${names(config.contexts)}`);
  }
  const context = pick(config.file, 'context', config.contexts, name);
  const cluster = pick(config.file, 'cluster', config.clusters, context.cluster);
  const user =
    context.user === undefined
      ? { name: 'anonymous' }
      : pick(config.file, 'user', config.users, context.user);
  if (!URL.canParse(cluster.server)) {
    throw problem(
      config.file,
      'the cluster has no valid server address',
      cluster.server,
      'write https://HOST:PORT',
    );
  }
  return { cluster, user, namespace: context.namespace, origin: `${config.file}, context ${name}` };
}

function pick<T extends { readonly name: string }>(
  file: string,
  kind: string,
  list: readonly T[],
  name: string,
): T {
  const found = list.find((entry) => entry.name === name);
  if (found === undefined)
    throw problem(file, `has no ${kind} of this name`, name, `name one of: ${names(list)}`);
  return found;
}

function names(list: readonly { readonly name: string }[]): string {
  return list.length === 0 ? '(none)' : list.map(({ name }) => name).join(', ');
}

function inCluster(
  environment: NonNullable<KubeconfigOptions['environment']>,
  folder = SERVICE_ACCOUNT,
): Access {
  const host = environment.KUBERNETES_SERVICE_HOST ?? '';
  const port = environment.KUBERNETES_SERVICE_PORT ?? '443';
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    cluster: { name: 'in-cluster', server, caFile: join(folder, 'ca.crt'), skipTLSVerify: false },
    user: { name: 'in-cluster', tokenFile: join(folder, 'token') },
    namespace: readText(join(folder, 'namespace'), false)?.trim(),
    origin: 'in-cluster',
  };
}

function problem(
  file: string,
  what: string,
  value: string | undefined,
  remedy: string,
  cause?: unknown,
): FluxqError {
  return new FluxqError('FLUXQ_KUBECONFIG', what, {
    field: file,
    remedy,
    ...(value !== undefined && { value }),
    ...(cause !== undefined && { cause }),
  });
}
