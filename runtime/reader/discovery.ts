/** What the apiserver and kubectl ask to know the resources of an API. */
import { READ_GROUP, READ_VERSION } from '../../constructs/api/labels';
import { READ_API } from './kinds';
import type { ReadResource } from './resource';

const VERSION = { groupVersion: READ_API, version: READ_VERSION };
const GROUP = { name: READ_GROUP, versions: [VERSION], preferredVersion: VERSION };

/**
 * Schemas without a path: the apiserver asks every server for them, and writes an error to its log again and again if there
 * are none.
 */
const INFO = { info: { title: 'fluxqueue', version: READ_VERSION }, paths: {} };
const SCHEMAS = {
  '/openapi/v2': { swagger: '2.0', ...INFO },
  '/openapi/v3': { paths: { [`apis/${READ_API}`]: { serverRelativeURL: `/openapi/v3/apis/${READ_API}` } } },
  [`/openapi/v3/apis/${READ_API}`]: { openapi: '3.0.0', ...INFO },
};

/** The documents by their paths. @param proxies resources with a subresource `proxy` */
export function discovery(
  resources: readonly ReadResource[],
  proxies: readonly string[],
): Readonly<Record<string, object>> {
  return {
    ...SCHEMAS,
    '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [GROUP] },
    [`/apis/${READ_GROUP}`]: { kind: 'APIGroup', apiVersion: 'v1', ...GROUP },
    [`/apis/${READ_API}`]: {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: READ_API,
      resources: [
        ...resources.map(({ name, singular, namespaced, kind, verbs }) => ({
          name,
          singularName: singular,
          namespaced,
          kind,
          verbs,
        })),
        ...proxies.map((name) => ({
          name: `${name}/proxy`,
          singularName: '',
          namespaced: true,
          kind: 'ProxyOptions',
          verbs: ['get'],
        })),
      ],
    },
  };
}
