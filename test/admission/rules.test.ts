import type { AdmissionRequest } from '../../runtime/admission/review';
import { admit } from '../../runtime/admission/rules';
import type { KubeObject } from '../cluster/api';
import { CORPUS } from './corpus';
import { ADMIN, job, pod, userOf } from './corpus-objects';
import { expectOutcome } from './expected-outcome';
import { applyPatch } from './json-patch';

const request = (object: KubeObject, more: Partial<AdmissionRequest> = {}): AdmissionRequest => {
  const [group, version] = object.apiVersion.includes('/')
    ? object.apiVersion.split('/')
    : ['', object.apiVersion];
  const kind = { group: group ?? '', version: version ?? '', kind: object.kind };
  return {
    uid: 'u',
    kind,
    operation: 'CREATE',
    namespace: 'a',
    userInfo: { username: ADMIN },
    object,
    ...more,
  };
};

describe('the corpus', () => {
  it('has at least 60 objects', () => {
    expect(CORPUS.length).toBeGreaterThanOrEqual(60);
    expect(new Set(CORPUS.map(({ title, object }) => `${object.kind} ${title}`)).size).toBe(CORPUS.length);
  });

  it.each(CORPUS)('$object.kind: $title', ({ object, expectedOutcome, as = ADMIN }) => {
    const verdict = admit(request(object, { userInfo: { username: as } }));
    if (expectedOutcome.is === 'denied') {
      expect(verdict).toMatchObject({ allowed: false, patch: [] });
      expect(verdict.message).toMatch(new RegExp(`^${expectedOutcome.code}: `));
      expect(verdict.message).toContain(`${expectedOutcome.field}: `);
    } else if (expectedOutcome.is !== 'invalid') {
      expect(verdict).not.toHaveProperty('message');
      expectOutcome(object, applyPatch(object, verdict.patch), expectedOutcome, userOf(as));
    }
  });

  it.each(CORPUS.filter(({ expectedOutcome }) => expectedOutcome.is !== 'denied'))(
    'is not changed a second time: $object.kind: $title',
    ({ object, as = ADMIN }) => {
      const by = { userInfo: { username: as } };
      const once = applyPatch(object, admit(request(object, by)).patch);
      expect(admit(request(once, by))).toEqual({ allowed: true, patch: [] });
    },
  );
});

describe('every other request is allowed unchanged', () => {
  const allowed = { allowed: true, patch: [] };
  it.each(['UPDATE', 'DELETE', 'CONNECT'] as const)('%s', (operation) => {
    expect(admit(request(job(), { operation }))).toEqual(allowed);
    expect(admit(request(pod(), { operation }))).toEqual(allowed);
  });

  it('subresources', () => {
    expect(admit(request(pod(), { subResource: 'ephemeralcontainers' }))).toEqual(allowed);
  });

  it.each([
    ['apps/v1', 'DaemonSet'],
    ['example.com/v1', 'CronJob'],
    ['example.com/v1', 'Job'],
    ['example.com/v1', 'Pod'],
    ['batch/v2', 'Job'],
  ])('%s %s', (apiVersion, kind) => {
    expect(admit(request({ apiVersion, kind, metadata: {} }))).toEqual(allowed);
  });
});

describe('the scheduler', () => {
  const scheduler = (object: KubeObject) => {
    const verdict = admit(request(object), { schedulerName: 'fluxqueue-scheduler' });
    return (applyPatch(object, verdict.patch).spec as { schedulerName?: string }).schedulerName;
  };
  it('is set for pods that request the default one', () => {
    expect(scheduler(pod())).toBe('fluxqueue-scheduler');
    expect(scheduler(pod({ schedulerName: 'default-scheduler' }))).toBe('fluxqueue-scheduler');
  });
  it('does not change if the user chose one or the pod is not queued', () => {
    expect(scheduler(pod({ schedulerName: 'volcano' }))).toBe('volcano');
    expect(scheduler(pod({ nodeName: 'n1' }))).toBeUndefined();
  });
});

it('keeps unknown fields', () => {
  const future = {
    ...pod({ schedulingGroup: { name: 'x' }, affinity: { future: { deep: [1, null] } } }),
    more: 1,
  };
  const { patch } = admit(request(future));
  expect(applyPatch(future, patch)).toMatchObject({
    more: 1,
    spec: { schedulingGroup: { name: 'x' }, affinity: { future: { deep: [1, null] } } },
  });
});
