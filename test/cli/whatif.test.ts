import { WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { objectsIn } from '../../runtime/cli/whatif-input';
import { whatIfLines } from '../../runtime/cli/whatif-text';
import { apiVersionOf } from '../../runtime/kubernetes/kind-fields';
import { READ_API, type WhatIf, type WhatIfStatus } from '../../runtime/reader/kinds';
import { playedReadApi, ROOT } from './played-read-api';

const JOB = 'apiVersion: batch/v1\nkind: Job\nmetadata: { name: train }\n';
const SWEEP =
  'apiVersion: flux-framework.org/v1alpha2\nkind: MiniCluster\nmetadata: { name: sweep, namespace: lab }\n';
const CONFIG = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: input }\n';

const STATUS: WhatIfStatus = {
  start: '2026-11-23T10:00:00.750Z',
  end: '2026-11-23T11:00:00.750Z',
  nodes: ['node-10', 'node-9'],
  message: 'waits for job/wide, which has node-[9-10]',
  delays: [{ name: 'job/tune', from: '2026-11-23T10:00:00Z', to: '2026-11-23T11:00:00Z' }],
};

function whatIf(status: WhatIfStatus, spec: Partial<WhatIf['spec']> = {}): WhatIf {
  return {
    apiVersion: READ_API,
    kind: 'WhatIf',
    metadata: {},
    spec: { object: {}, ...spec },
    status,
  };
}

test('the answer says when, where, why not now, and what would be delayed', () => {
  expect(whatIfLines('job/train', whatIf(STATUS))).toEqual([
    'job/train would start at 2026-11-23T10:00:00Z and end at 2026-11-23T11:00:00Z at the latest',
    'on 2 nodes: node-[9-10]',
    'waits for job/wide, which has node-[9-10]',
    'it would delay job/tune from 2026-11-23T10:00:00Z to 2026-11-23T11:00:00Z',
  ]);
});

test('a likely start stands behind the one by walltimes', () => {
  const [, likely] = whatIfLines('job/train', whatIf({ ...STATUS, likelyStart: '2026-11-23T09:10:00Z' }));
  expect(likely).toBe(
    'if workloads end as early as the last two of their users, it starts at about 2026-11-23T09:10:00Z',
  );
});

test('the conditions are part of the answer', () => {
  const spec = { moreNodes: 20, policy: 'hybrid', priority: 0 };
  const [first, ...others] = whatIfLines('job/train', whatIf({ ...STATUS, delays: [] }, spec));
  expect(first).toMatch(/^with 20 more nodes, policy hybrid, priority 0, job\/train would start at /);
  expect(others.at(-1)).toBe('it would delay no other workload of this namespace');
  expect(whatIfLines('job/train', whatIf(STATUS, { moreNodes: 1 }))[0]).toMatch(/^with 1 more node, job/);
});

test('what would not start says why', () => {
  const status = { nodes: [], delays: [], message: 'Unsatisfiable: needs 999 cores' };
  expect(whatIfLines('job/train', whatIf(status))).toEqual([
    'job/train would not start within the plan',
    'Unsatisfiable: needs 999 cores',
  ]);
});

describe('the file', () => {
  test('has Jobs, Pods and MiniClusters, also in lists; what else is in it is left out and named', () => {
    const list = `---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: batch/v1, kind: Job, metadata: {generateName: run-}}\n- {apiVersion: v1, kind: Pod, metadata: {name: shell}}\n`;
    const { objects, notes } = objectsIn(`${CONFIG}---\n${JOB}---\n${SWEEP}---\n${list}---\n`, 'all.yaml');
    expect(objects.map(({ name, namespace }) => [name, namespace])).toEqual([
      ['job/train', undefined],
      ['minicluster/sweep', 'lab'],
      ['job/run-…', undefined],
      ['pod/shell', undefined],
    ]);
    expect(notes).toEqual(['left out: configmap/input waits in no queue']);
  });

  test.each(WORKLOAD_KINDS)('has a $kind, which waits in a queue as well', (kind) => {
    const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name: 'train' } };
    expect(objectsIn(JSON.stringify(object), 'x')).toMatchObject({ objects: [{ object }], notes: [] });
  });

  test('may be JSON', () => {
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'train' } };
    expect(objectsIn(JSON.stringify(job), 'x').objects[0]?.object).toEqual(job);
  });

  test.each([
    ['is empty', '', 'x: is empty; give the YAML'],
    ['has nothing that waits', CONFIG, 'x: has only configmap/input;'],
    ['has a Job of another group', JOB.replace('batch', 'example.com'), 'has only job/train'],
    ['is not YAML', 'a: [', 'x: is not YAML: '],
    ['repeats an alias that is not set', `${JOB}spec: *base\n`, 'x: is not YAML: '],
    ['is only text', 'train', 'has a document that is not an object of Kubernetes'],
    ['is a list', '- a', 'has a document that is not an object of Kubernetes'],
    ['has a list of nothing', 'kind: JobList', 'has a JobList without items'],
    ['has an object without a name', 'kind: ConfigMap', 'has only configmap/without a name'],
  ])('is refused if it %s', (_, text, problem) => {
    expect(() => objectsIn(text, 'x')).toThrow(problem);
  });
});

describe('the command', () => {
  const getApi = playedReadApi();

  test('asks about one object after the other, each where it would be applied', async () => {
    const api = getApi();
    api.answer = ({ body }) => ({ body: { ...(body as WhatIf), status: STATUS } });
    const file = api.file(`${JOB}---\n${CONFIG}---\n${SWEEP}`);
    const { output, errors } = await api.run(
      'whatif',
      '-f',
      file,
      '--nodes',
      '+20',
      '--policy',
      'hybrid',
      '--priority',
      '-5',
    );
    expect(api.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `POST ${ROOT}/namespaces/science/whatifs`,
      `POST ${ROOT}/namespaces/lab/whatifs`,
    ]);
    expect(api.asked[0]?.body).toEqual({
      apiVersion: 'queue.converged-computing.org/v1alpha1',
      kind: 'WhatIf',
      metadata: { namespace: 'science' },
      spec: {
        object: { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'train' } },
        moreNodes: 20,
        policy: 'hybrid',
        priority: -5,
      },
    });
    expect(output).toMatch(
      /^with 20 more nodes, policy hybrid, priority -5, job\/train would(.|\n)*\n\nwith .* minicluster\/sweep would/,
    );
    expect(errors).toBe('left out: configmap/input waits in no queue\n');
  });

  test('prints the answer as it is, several as a list', async () => {
    const api = getApi();
    api.answer = () => ({ body: whatIf(STATUS) });
    const one = await api.run('whatif', '-f', api.file(JOB), '-o', 'json');
    expect(JSON.parse(one.output)).toEqual(whatIf(STATUS));
    const two = await api.run('whatif', '-f', api.file(`${JOB}---\n${JOB}`), '-o', 'json');
    expect(JSON.parse(two.output)).toEqual({
      apiVersion: 'v1',
      kind: 'List',
      items: [whatIf(STATUS), whatIf(STATUS)],
    });
  });

  test.each(['20', '+10001', '+99999999999', '+1e3'])(
    'refuses %s nodes more, and says how many it takes',
    async (nodes) => {
      const api = getApi();
      const { refused } = await api.run('whatif', '-f', api.file(JOB), '--nodes', nodes);
      expect(refused).toContain('must be like +20, and at most +10000: so many nodes more.');
      expect(api.asked).toEqual([]);
    },
  );

  test('refuses another namespace than that of the object, as kubectl does', async () => {
    const api = getApi();
    const { refused } = await api.run('whatif', '-f', api.file(SWEEP), '-n', 'science');
    expect(refused).toBe(
      'FLUXQ_WHATIF_INPUT: minicluster/sweep metadata.namespace: is in another namespace than --namespace science (got "lab"); leave one of them out',
    );
    expect(api.asked).toEqual([]);
  });
});
