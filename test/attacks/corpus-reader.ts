/** Attacks with the reader's token, and by questions to the read API. */
import {
  READ_API_SERVICE,
  READ_GROUP,
  READ_VERSION,
  READER_SECRET,
  STACK_NAMESPACE,
} from '../../constructs/api/labels';
import { type Act, ALPHA, type Attack, BETA, type Role } from './attack';
import { container, create, job, patch, pathTo, remove } from './objects';

const RESERVED = 'FLUXQ_RESERVED';
const RBAC = 'forbidden: User';
const API = `/apis/${READ_GROUP}/${READ_VERSION}`;
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';

const by =
  (role: Role) =>
  (name: string, act: Act, refused = RBAC): Attack => ({ name, role, act, holds: { refused } });
const reader = by('reader token');
const read = (path: string): Act => ({ verb: 'GET', path });
const changes = (body: readonly object[], service = READ_API_SERVICE): Act => ({
  verb: 'PATCH',
  path: `${API_SERVICES}/${service}`,
  body,
  type: 'application/json-patch+json',
});
const change = (path: string, value: unknown, service?: string) =>
  changes([{ op: 'add', path, value }], service);
const token = (namespace: string, account: string): Act => ({
  verb: 'POST',
  path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
  body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
});
const secret = (name: string, type: string): Act =>
  create(
    'Secret',
    name,
    { metadata: { annotations: { 'kubernetes.io/service-account.name': 'fluxqueue-controller' } }, type },
    STACK_NAMESPACE,
  );

const OF_TOKEN: readonly Attack[] = [
  reader('the Secret of a user', read(pathTo('Secret', ALPHA, 'private'))),
  reader('every Secret of the stack', read(pathTo('Secret', STACK_NAMESPACE))),
  reader('a ConfigMap of a user', read(pathTo('ConfigMap', ALPHA, 'notes'))),
  reader('a token of the controller', token(STACK_NAMESPACE, 'fluxqueue-controller')),
  reader('a token of a user', token(ALPHA, 'builder')),
  reader(
    'a Secret with a token of the controller',
    secret(READER_SECRET, 'kubernetes.io/service-account-token'),
    RESERVED,
  ),
  reader('a Secret of another name', secret('x', 'Opaque'), RESERVED),
  reader('a Secret of a user by writing it', patch('Secret', 'private', { stringData: { k: 'x' } })),
  reader('a Job', create('Job', 'x', { spec: job() })),
  reader('the start of a waiting Job', patch('Job', 'waiting', { spec: { suspend: false } })),
  reader('the end of a Job', remove('Job', 'running')),
  reader('a Pod', create('Pod', 'x', { spec: { containers: [container()] } })),
  reader('a command in a pod', { verb: 'POST', path: pathTo('Pod', ALPHA, 'gated', 'exec') }),
  reader('the log of a pod', read(pathTo('Pod', ALPHA, 'gated', 'log'))),
  reader('another text of a FluxJob', patch('FluxJob', 'waiting-job', { spec: { queue: 'x' } })),
  reader('another quota', patch('FluxSetup', 'team', { spec: { weight: 9 } }, BETA)),
  reader('a MiniCluster', create('MiniCluster', 'x', { spec: { containers: [{ image: 'flux' }] } })),
  reader('the questions of users at another Service', change('/spec/service/name', 'evil'), RESERVED),
  reader('their questions in another namespace', change('/spec/service/namespace', ALPHA), RESERVED),
  reader('their questions at another port', change('/spec/service/port', 1), RESERVED),
  reader(
    'answers with any certificate',
    changes([
      { op: 'remove', path: '/spec/caBundle' },
      { op: 'add', path: '/spec/insecureSkipTLSVerify', value: true },
    ]),
    RESERVED,
  ),
  reader('a better place among the APIs', change('/spec/groupPriorityMinimum', 20_000), RESERVED),
  reader('a label that a tool reads', change('/metadata/labels/x', 'y'), RESERVED),
  reader('another API', change('/spec/groupPriorityMinimum', 1, 'v1.apps')),
  reader('no read API', { verb: 'DELETE', path: `${API_SERVICES}/${READ_API_SERVICE}` }),
  // Its account has no right to ask what it answers.
  reader('the history of a user', read(`${API}/namespaces/${ALPHA}/histories/waiting`)),
  reader('the plan of all', read(`${API}/plans`)),
];

/** `trudy` may edit beta, and asks for what alpha or everybody has. */
const neighbour = by('neighbour');
const QUESTIONS: readonly (readonly [what: string, act: Act])[] = [
  ['the history of a Job', read(`${API}/namespaces/${ALPHA}/histories/waiting`)],
  ['the usage', read(`${API}/namespaces/${ALPHA}/usages`)],
  ['the plan', read(`${API}/namespaces/${ALPHA}/plans`)],
  ['the priorities', read(`${API}/namespaces/${ALPHA}/priorities`)],
  ['a step from its own to the plan', read(`${API}/namespaces/${BETA}%2f..%2f${ALPHA}/plans`)],
  ['the plan, encoded', read(`${API}/namespaces/%61lpha/plans`)],
  ['the dashboard', read(`${API}/namespaces/${ALPHA}/dashboards/queue/proxy/`)],
  ['the events of the dashboard', read(`${API}/namespaces/${ALPHA}/dashboards/queue/proxy/events`)],
  [
    'a what-if',
    {
      verb: 'POST',
      path: `${API}/namespaces/${ALPHA}/whatifs`,
      body: { spec: { object: create('Job', 'x', { spec: job() }).body } },
    },
  ],
];
const OF_ALL = [
  'usages',
  'plans',
  'priorities',
  'nodereports',
  'traces',
  'resourcegraphs/fluxion',
  'dashboards/queue/proxy/',
];

const BY_USERS: readonly Attack[] = [
  ...QUESTIONS.map(([what, act]) => neighbour(`${what} of another namespace`, act)),
  ...OF_ALL.map((path) => neighbour(`${path} of all namespaces`, read(`${API}/${path}`))),
  ...['usages', 'plans'].map(
    (list): Attack => ({
      name: `what the ${list} of its own namespace have of others`,
      role: 'neighbour',
      act: read(`${API}/namespaces/${BETA}/${list}`),
      holds: { contained: 'the answer is about beta alone' },
    }),
  ),
  by('pod creator')(
    'the plan of a namespace in which it may only create',
    read(`${API}/namespaces/${ALPHA}/plans`),
  ),
];

export const READER_ATTACKS: readonly Attack[] = [...OF_TOKEN, ...BY_USERS];
