/**
 * The database and Fluxion, as far as the apiserver shows them. A leader is Ready only while its passes succeed, which need
 * both (the readiness of runtime/roles/controller.ts), so a Ready leader is the proof.
 */

import { parse } from 'yaml';
import { CONFIG_FILE_NAME } from '../../../constructs/api/labels';
import { isTrue } from '../../kubernetes/conditions';
import { namespaced, secrets } from '../../kubernetes/paths';
import type { Pod } from '../../kubernetes/types';
import { type Context, error, type Finding, ok, unknown, warning } from './finding';
import { somebodyLeads } from './leader';
import { type DataObject, type Deployment, secretText } from './objects';

const CONTROLLER = 'fluxqueue-controller';
const configMaps = namespaced('', 'v1', 'configmaps');
const SECRET_NAME = 'FLUXQUEUE_database_secret_name';
const SECRET_KEY = 'FLUXQUEUE_database_secret_key';

/** A controller outside the cluster; where nobody leads, other checks say so. */
async function outside(context: Context, what: string): Promise<readonly Finding[]> {
  if (!(await somebodyLeads(context))) return [];
  return [
    unknown(
      `${what} of a controller outside the cluster is not to be seen by the apiserver`,
      'look at the log of that controller',
    ),
  ];
}

export async function checkDatabase(context: Context): Promise<readonly Finding[]> {
  const { reader, namespace } = context;
  const controller = await controllerOf(context);
  if (controller === undefined) return outside(context, 'the database');
  const { name, key } = databaseSecret(controller);
  if (name === undefined || key === undefined) return [];
  const secret = await reader.get<DataObject>(secrets(namespace, name));
  if (secret === undefined || secretText(secret, key) === undefined)
    return [
      error(
        `Secret ${name} in ${namespace} has no URL of the database in its key ${key}: no controller starts`,
        'the pod of the database writes it when it starts: see that it runs; the Secret of an existing database is yours to make',
      ),
    ];
  const proof = { holderIdentity: await holder(context), namespace, what: 'the database' };
  return [
    unproven(await reader.podsOfTheStack(), proof) ??
      ok(`Secret ${name} has the URL, and the leader, which is Ready, reaches it`),
  ];
}

async function controllerOf({ reader }: Context): Promise<Deployment | undefined> {
  return (await reader.deployments()).find(({ metadata }) => metadata.name === CONTROLLER);
}

/** The holder of the Lease, while it renews it. */
async function holder(context: Context): Promise<string> {
  if (!(await somebodyLeads(context))) return '';
  return (await context.reader.lease())?.spec?.holderIdentity ?? '';
}

function databaseSecret({ spec }: Deployment): { readonly name?: string; readonly key?: string } {
  const env = spec.template.spec.containers.find(({ name }) => name === 'controller')?.env ?? [];
  const [name, key] = [SECRET_NAME, SECRET_KEY].map((each) => env.find(({ name }) => name === each)?.value);
  return { ...(name !== undefined && { name }), ...(key !== undefined && { key }) };
}

function isReady({ status }: Pod): boolean {
  return isTrue(status?.conditions, 'Ready');
}

interface Proof {
  readonly holderIdentity: string;
  /** Namespace of the stack. */
  readonly namespace: string;
  /** What a Ready leader proves to answer. */
  readonly what: string;
}

/** Why the pods do not prove that it answers; undefined if they do. @internal exported for tests */
export function unproven(
  pods: readonly Pod[],
  { holderIdentity, namespace, what }: Proof,
): Finding | undefined {
  const leader = pods.find(({ metadata: { uid } }) => holderIdentity.includes(uid));
  if (leader !== undefined && isReady(leader)) return undefined;
  const name = leader?.metadata.name ?? `deployment/${CONTROLLER}`;
  return warning(
    leader === undefined
      ? `no pod of the stack leads, so nothing shows whether ${what} answers`
      : `the leader ${name} is not Ready, so nothing shows whether ${what} answers`,
    `read: kubectl -n ${namespace} logs ${name} -c controller`,
  );
}

interface Settings {
  readonly fluxion?: { readonly address?: string; readonly engine?: string };
  readonly queue?: { readonly enabled?: boolean };
}

/** The settings of the roles, from the ConfigMap that the controller's pods mount. */
export async function settingsOf(context: Context): Promise<Settings | undefined> {
  const { reader, namespace } = context;
  const volumes = (await controllerOf(context))?.spec.template.spec.volumes ?? [];
  const name = volumes.find((volume) => volume.name === 'config')?.configMap?.name;
  if (name === undefined) return undefined;
  const config = await reader.get<DataObject>(configMaps(namespace, name));
  const text = config?.data?.[CONFIG_FILE_NAME];
  return text === undefined ? undefined : (parse(text) as Settings);
}

export async function checkFluxion(context: Context): Promise<readonly Finding[]> {
  const { reader, namespace } = context;
  const settings = await settingsOf(context);
  if (settings === undefined) return outside(context, 'Fluxion');
  const { address = 'embedded', engine = 'auto' } = settings.fluxion ?? {};
  const pods = await reader.podsOfTheStack();
  const proof = { holderIdentity: await holder(context), namespace, what: 'Fluxion' };
  return fluxionFindings({ address, engine }, pods, unproven(pods, proof));
}

/** @internal exported for tests */
export function fluxionFindings(
  { address, engine }: { readonly address: string; readonly engine: string },
  pods: readonly Pod[],
  doubt: Finding | undefined,
): readonly Finding[] {
  if (address === 'embedded') return [ok('Fluxion is embedded in the controller')];
  const sidecars = pods.flatMap(({ metadata, status }) =>
    (status?.containerStatuses ?? [])
      .filter(({ name }) => name === 'fluxion')
      .map(({ ready }) => ({ pod: metadata, ready })),
  );
  const away = sidecars.filter(({ ready }) => ready !== true);
  if (away.length > 0)
    return away.map(({ pod }) =>
      error(
        `Fluxion beside controller ${pod.name} is not ready`,
        `read: kubectl -n ${pod.namespace} logs ${pod.name} -c fluxion`,
      ),
    );
  if (doubt !== undefined) return [doubt];
  return [ok(`Fluxion (${engine}) at ${address} answers the leader, which is Ready`)];
}
