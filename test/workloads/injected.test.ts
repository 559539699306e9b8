import type { PodSpec } from '../../runtime/jobspec/pod';
import { InjectedRequests, type Template, withAdded } from '../../runtime/workloads/injected';

const container = (name: string, cpu: string) => ({ name, resources: { requests: { cpu } } });
const pod: PodSpec = { containers: [container('main', '2')], overhead: { cpu: '100m' } };
const MESH = { 'sidecar.istio.io/inject': 'true' };

function template(over: Partial<Template> = {}): Template {
  return { namespace: 'science', labels: {}, annotations: {}, pod, ...over };
}
/** A pod of the template with a sidecar; without cores, the pod is as its template has it. */
function real(cpu?: string): PodSpec {
  return cpu === undefined ? pod : { ...pod, containers: [...pod.containers, container('mesh', cpu)] };
}

test('pods of a template are expected as the first one was', () => {
  const injected = new InjectedRequests();
  expect(injected.addedTo(template())).toBeUndefined();
  expect(injected.learn(template(), real('1'))).toBe(true);
  expect(injected.addedTo(template())).toEqual({ requests: { cpu: '1' } });
  expect(injected.learn(template(), real('1'))).toBe(false);
  expect(withAdded(pod, { requests: { cpu: '1' } }).overhead).toEqual({ cpu: '1100m' });
});

describe('where pods are placed', () => {
  const POOL = { nodeSelector: { pool: 'fast' }, tolerations: [{ key: 'pool', operator: 'Exists' }] };
  const OWN = { nodeSelector: { disk: 'ssd' }, tolerations: [{ key: 'own', value: 'a' }] };
  const own = { ...pod, ...OWN };
  /** As the apiserver stores it. */
  const placed: PodSpec = {
    ...own,
    nodeSelector: { ...OWN.nodeSelector, ...POOL.nodeSelector },
    tolerations: [
      { key: 'own', operator: 'Equal', value: 'a' },
      ...POOL.tolerations,
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
    ],
  };
  const expected = template({ pod: own });

  test('a dry run says which node selector and tolerations are added', () => {
    const injected = new InjectedRequests();
    expect(injected.expect(expected, placed, 'a')).toBe(true);
    expect(injected.addedTo(expected)).toEqual({ placement: POOL });
    expect(withAdded(own, injected.addedTo(expected))).toEqual({
      ...own,
      nodeSelector: placed.nodeSelector,
      tolerations: [...OWN.tolerations, ...POOL.tolerations],
    });
  });

  test('a real pod, to which its user may have added some, changes nothing of that', () => {
    const injected = new InjectedRequests();
    expect(injected.learn(expected, placed, 'a')).toBe(false);
    injected.expect(expected, placed, 'b');
    expect(injected.learn(expected, own, 'b')).toBe(false);
    expect(injected.addedTo(expected)).toEqual({ placement: POOL });
  });

  test('the next leader goes on with it', () => {
    const injected = new InjectedRequests();
    injected.assume(expected, { requests: { cpu: '1' }, placement: POOL });
    expect(injected.addedTo(expected)).toEqual({ requests: { cpu: '1' }, placement: POOL });
  });
});

test('other namespaces and other containers are expected as they are', () => {
  const injected = new InjectedRequests();
  injected.learn(template(), real('1'));
  expect(injected.addedTo(template({ namespace: 'other' }))).toBeUndefined();
  expect(injected.addedTo(template({ pod: { containers: [container('main', '4')] } }))).toBeUndefined();
});

test('a pod without additions takes back what was known', () => {
  const injected = new InjectedRequests();
  injected.learn(template(), real('1'));
  expect(injected.learn(template(), real())).toBe(true);
  expect(injected.addedTo(template())).toBeUndefined();
});

test('a pod that requests less than its template changes nothing', () => {
  const injected = new InjectedRequests();
  expect(injected.learn(template(), { containers: [container('main', '1')] })).toBe(false);
});

test.each([
  ['a label', { labels: MESH }],
  ['an annotation', { annotations: MESH }],
  ['its service account', { pod: { ...pod, serviceAccountName: 'meshed' } }],
])('templates that differ by %s do not change the charge of each other', (_, over) => {
  const injected = new InjectedRequests();
  const meshed = template(over);
  injected.learn(meshed, real('1'));
  injected.learn(template(), real());
  for (let i = 0; i < 3; i++) {
    expect(injected.learn(meshed, real('1'))).toBe(false);
    expect(injected.learn(template(), real())).toBe(false);
  }
  expect(injected.addedTo(meshed)).toEqual({ requests: { cpu: '1' } });
  expect(injected.addedTo(template())).toBeUndefined();
});

test('a template of which no pod was seen gets what those that are most like it got', () => {
  const injected = new InjectedRequests();
  const run = (id: string) => ({ run: id });
  injected.learn(template({ labels: { ...run('a'), ...MESH } }), real('1'));
  expect(injected.addedTo(template({ labels: { ...run('b'), ...MESH } }))).toEqual({
    requests: { cpu: '1' },
  });
  injected.learn(template({ labels: run('c') }), real());
  expect(injected.addedTo(template({ labels: { ...run('b'), ...MESH } }))).toEqual({
    requests: { cpu: '1' },
  });
  expect(injected.addedTo(template({ labels: run('d') }))).toBeUndefined();
});

test('what Kubernetes and the queue write into a template does not make it another one', () => {
  const injected = new InjectedRequests();
  injected.learn(template({ labels: { app: 'a' } }), real('1'));
  injected.learn(template({ labels: { app: 'b' } }), real('2'));
  const labels = { app: 'a', 'batch.kubernetes.io/job-name': 'a', 'job-name': 'a', 'controller-uid': 'x' };
  const annotations = { 'fluxqueue/assignment': '0/1:n1', 'fluxqueue/jobid': '7' };
  expect(injected.learn(template({ labels, annotations }), real('1'))).toBe(false);
});

describe('what the leader before charged', () => {
  test('is charged until a pod says something else', () => {
    const injected = new InjectedRequests();
    injected.assume(template({ labels: MESH }), { requests: { cpu: '1' } });
    injected.assume(template());
    expect(injected.addedTo(template({ labels: MESH }))).toEqual({ requests: { cpu: '1' } });
    expect(injected.addedTo(template())).toBeUndefined();
    expect(injected.learn(template({ labels: MESH }), real('1'))).toBe(false);
    expect(injected.addedTo(template())).toBeUndefined();
    expect(injected.learn(template({ labels: MESH }), real('2'))).toBe(true);
    expect(injected.addedTo(template())).toEqual({ requests: { cpu: '2' } });
  });

  test('is not remembered where no pod gets anything', () => {
    const injected = new InjectedRequests();
    injected.assume(template());
    expect(injected.isEmpty).toBe(true);
    expect(injected.addsAnything).toBe(false);
  });
});
