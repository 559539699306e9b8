/** What a user reads when the read API has no answer, for each reason and each command. */
import { type Answer, playedReadApi, ROOT, refusal } from './played-read-api';

const getApi = playedReadApi();
const JOB = 'apiVersion: batch/v1\nkind: Job\nmetadata: { name: train }\n';

interface Situation {
  readonly because: string;
  readonly answer: Answer;
  /** @default - the group is there */
  readonly discovery?: Answer;
  readonly words: string;
  readonly says: RegExp;
}

const NOT_FOUND = { status: 404, body: '404 page not found\n' };
const forbidden = (what: string) =>
  refusal(
    403,
    'Forbidden',
    `${what} is forbidden: User "ada" cannot list resource "${what}" in API group "queue…"`,
  );
const MISSING =
  /^FLUXQ_READ_API_MISSING: this cluster has no read API of the queue; ask an administrator for a stack/;

const SITUATIONS: readonly Situation[] = [
  { because: 'it is not installed', answer: NOT_FOUND, discovery: NOT_FOUND, words: 'plan', says: MISSING },
  {
    because: 'it is not installed, which the apiserver tells only to those with rights',
    answer: forbidden('plans'),
    discovery: NOT_FOUND,
    words: 'plan',
    says: MISSING,
  },
  {
    because: 'another version of it is installed',
    answer: refusal(404, 'NotFound', 'the server could not find the requested resource'),
    words: 'nodes',
    says: MISSING,
  },
  {
    because: 'its service has no pod',
    answer: { status: 503, body: 'service unavailable' },
    words: 'nodes',
    says: /^FLUXQ_READ_API_DOWN: the read API has no answer now: HTTP 503 service unavailable; try again in a minute; kubectl fluxqueue doctor/,
  },
  {
    because: 'the reader has no database',
    answer: refusal(503, 'ServiceUnavailable', 'FLUXQ_X: the database is down; check it'),
    words: 'history train',
    says: /^FLUXQ_READ_API_DOWN: the read API has no answer now: FLUXQ_X: the database is down; check it; try again/,
  },
  {
    because: 'the user has no right in the namespace',
    answer: forbidden('usages'),
    words: 'usage -n lab',
    says: /^FLUXQ_READ_FORBIDDEN: ada may not list usages in namespace lab; ask an administrator of the namespace for a RoleBinding to view$/,
  },
  {
    because: 'the user has no right in all namespaces',
    answer: forbidden('plans'),
    words: 'plan -A',
    says: /^FLUXQ_READ_FORBIDDEN: ada may not list plans in all namespaces; leave out -A, or ask an administrator of the cluster for a ClusterRoleBinding to view$/,
  },
  {
    because: 'the user has no right in the cluster',
    answer: forbidden('nodereports'),
    words: 'nodes',
    says: /^FLUXQ_READ_FORBIDDEN: ada may not list nodereports in the whole cluster; ask an administrator of the cluster for a ClusterRoleBinding to view$/,
  },
  {
    because: 'the user may not get the graph',
    answer: forbidden('resourcegraphs'),
    words: 'graph',
    says: /: ada may not get resourcegraphs in the whole cluster; /,
  },
  {
    because: 'the user may only view',
    answer: forbidden('whatifs'),
    words: 'whatif -f FILE',
    says: /: ada may not create whatifs in namespace science; ask an administrator of the namespace for a RoleBinding to edit$/,
  },
  {
    because: 'the apiserver does not name the user, and hides its groups',
    answer: refusal(403, 'Forbidden', 'no'),
    discovery: refusal(403, 'Forbidden', 'no'),
    words: 'trace',
    says: /^FLUXQ_READ_FORBIDDEN: you may not list traces in the whole cluster; /,
  },
  {
    because: 'the reader refuses what is asked',
    answer: refusal(400, 'BadRequest', 'FLUXQ_X: from: is too long ago (got "1970"); give a later one'),
    words: 'usage',
    says: /^FLUXQ_X: from: is too long ago \(got "1970"\); give a later one$/,
  },
  {
    because: 'somebody else refuses it',
    answer: refusal(418, 'Teapot', 'short and stout'),
    words: 'usage',
    says: /^FLUXQ_KUBERNETES_FAILED: short and stout$/,
  },
  {
    because: 'nothing had the name',
    answer: refusal(
      404,
      'NotFound',
      'FLUXQ_HISTORY_NOT_FOUND: science/nothing: no workload of this name was ever queued; check the name',
    ),
    words: 'history nothing',
    says: /^FLUXQ_HISTORY_NOT_FOUND: science\/nothing: no workload of this name was ever queued; check the name$/,
  },
];

test.each(SITUATIONS)('$words says a sentence when $because', async ({ answer, discovery, words, says }) => {
  const api = getApi();
  api.answer = () => answer;
  if (discovery !== undefined) api.discovery = discovery;
  const line = words.replace('FILE', api.file(JOB)).split(' ');
  const { refused, output } = await api.run(...line);
  expect(refused).toMatch(says);
  expect(refused).not.toContain('\n');
  expect(output).toBe('');
});

test.each<[string, string, RegExp]>([
  [
    'a period that ends before it begins',
    'usage --from 2026-11-02 --until 2026-11-01',
    /^FLUXQ_PERIOD: --from: is not before/,
  ],
  ['a time that is none', 'trace --from soon', /'soon' is invalid\. write 2026-11-01 or/],
  ['a number that is no date', 'trace --until 5', /'5' is invalid\. write 2026-11-01 or/],
  ['an unknown key', 'usage --by queue,team', /must be one or more of queue,user,namespace/],
  ['an unknown policy', 'whatif -f x --policy fair', /Allowed choices are fcfs, easy, conservative, hybrid/],
  [
    'a number of nodes instead of more nodes',
    'whatif -f x --nodes 20',
    /must be like \+20, and at most \+10000: so many nodes more/,
  ],
  ['a priority that is none', 'whatif -f x --priority high', /must be a whole number/],
  ['no file', 'whatif', /required option '-f, --filename <file>' not specified/],
  ['a file that does not exist', 'whatif -f /nowhere/x', /^FLUXQ_WHATIF_INPUT: \/nowhere\/x: can't be read/],
  ['hours that are none', 'plan --hours 0', /must be a number of hours above 0, such as 6/],
  ['a format that makes no sense', 'usage -o name', /Allowed choices are table, json, yaml/],
  [
    'two namespaces',
    'history lab/train -n science',
    /^FLUXQ_WORKLOAD_NAME: workload: names another namespace/,
  ],
  ['no workload', 'history a/b/c', /^FLUXQ_WORKLOAD_NAME: workload: is not the name of a workload/],
])('%s is refused before anything is asked', async (_, words, says) => {
  const { refused } = await getApi().run(...words.split(' '));
  expect(refused).toMatch(says);
  expect(getApi().asked).toEqual([]);
});

test.each<[string, string]>([
  ['plan', '/namespaces/science/plans'],
  ['plan -A', '/plans'],
  ['history job/train -n lab', '/namespaces/lab/histories/train'],
  ['history lab/train', '/namespaces/lab/histories/train'],
  ['usage', '/namespaces/science/usages'],
  ['usage -A', '/usages'],
  ['nodes', '/nodereports'],
  ['graph', '/resourcegraphs/fluxion'],
  ['trace', '/traces'],
])('%s asks %s', async (words, path) => {
  await getApi().run(...words.split(' '));
  expect(getApi().asked.map((asked) => [asked.method, asked.path])).toEqual([['GET', `${ROOT}${path}`]]);
});
