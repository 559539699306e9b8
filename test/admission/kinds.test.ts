/** Workload kinds in both forms of admission on a real apiserver. */
import { App, Chart, Testing } from 'cdk8s';
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  ENDED_ANNOTATION,
  HOLD,
  JOBID_ANNOTATION,
  KUEUE_QUEUE_LABEL,
  OWNER_ANNOTATION,
  SUSPEND_ANNOTATION,
  USER_ANNOTATION,
} from '../../constructs/api/labels';
import { MOST_POD_SETS, WORKLOAD_KINDS, type WorkloadKind } from '../../constructs/api/workload-kinds';
import { ControllerGuard } from '../../constructs/fluxqueue/admission/controller-guard';
import { fieldAt, withField } from '../../runtime/kubernetes/fields';
import { kindPath } from '../../runtime/kubernetes/kind-fields';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { applyStandIns } from '../kinds/stand-in';
import { CONTAINER, type Fields, JOB_CONTROLLER, job, pod } from './corpus-objects';
import { FORMS, type Form, useForms } from './forms';
import { ALICE, accepted, CONTROLLER, type Reply, type Users } from './users';

const HPA = 'system:serviceaccount:kube-system:horizontal-pod-autoscaler';
const OPERATOR = 'system:serviceaccount:jobset-system:jobset-controller-manager';
const CLASSES = { urgent: 1000, later: -10 };
const UID = '6f1d2a0e-0000-4000-8000-000000000001';

describeCluster('an object of a workload kind', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });
  beforeAll(async () => {
    const chart = new Chart(new App(), 'test');
    new ControllerGuard(chart, 'controller', { miniClusters: false, mutatingPolicies: true });
    await getCluster().apply(Testing.synth(chart) as KubeObject[]);
    for (const form of FORMS) await applyStandIns(getCluster(), form);
    await getCluster().apply(
      Object.entries(CLASSES).map(
        ([name, value]) =>
          ({
            apiVersion: 'scheduling.k8s.io/v1',
            kind: 'PriorityClass',
            metadata: { name },
            value,
          }) as unknown as KubeObject,
      ),
    );
  });

  describe.each(WORKLOAD_KINDS.map((kind) => [kind.kind, kind] as const))('%s', (name, kind) => {
    const make = (metadata: Fields = {}, spec: Fields = {}): KubeObject => ({
      apiVersion: `${kind.group}/${kind.version}`,
      kind: name,
      metadata: { generateName: 'x-', ...metadata },
      spec: { ...specOf(kind), ...spec },
    });
    const suspending = (suspend: boolean) => (withField({}, kind.suspend, suspend) as { spec: Fields }).spec;
    const isHeld = (object: KubeObject) => fieldAt(object, kind.suspend);
    const created = (form: Form, object: KubeObject, as = ALICE) => accepted(users.create(as, form, object));
    const updated = (form: Form, object: KubeObject, body: object, as = ALICE) =>
      accepted(users.patch(as, form, object, body));
    const madeFor = {
      apiVersion: `${kind.group}/${kind.version}`,
      kind: name,
      name: 'x',
      uid: UID,
      controller: true,
    };
    /** Refused in both forms, with the same sentence. */
    const refused = async (object: KubeObject, text: string, as = ALICE) => {
      for (const form of FORMS) await denied(users.create(as, form, object), text);
    };
    const release = {
      metadata: { annotations: { [ASSIGNMENT_ANNOTATION]: '=0/1:n1', [JOBID_ANNOTATION]: '7' } },
      spec: suspending(false),
    };

    test.each(FORMS)('is held, and its user is noted, by %s', async (form) => {
      const plain = await created(form, make());
      expect(isHeld(plain)).toBe(true);
      expect(plain.metadata).toMatchObject({
        labels: { [ADMITTED_LABEL]: 'true' },
        annotations: { [USER_ANNOTATION]: ALICE },
      });
      const claimed = await created(form, make({ annotations: { [USER_ANNOTATION]: 'root' } }));
      expect(claimed.metadata.annotations).toEqual({ [USER_ANNOTATION]: ALICE });
      const suspended = await created(form, make({}, suspending(true)));
      expect(suspended.metadata).toMatchObject({
        labels: { [ADMITTED_LABEL]: 'true', [HOLD]: 'true' },
        annotations: { [SUSPEND_ANNOTATION]: 'held' },
      });
      const elsewhere = withField(make(), kind.managedBy.field, 'example.com/other') as KubeObject;
      const other = await created(form, elsewhere);
      expect([isHeld(other), other.metadata.labels]).toEqual([undefined, undefined]);
    });

    test('is not taken with settings that would be ignored, or that only the queue writes', async () => {
      await refused(
        make({ labels: { 'fluxqueue/hold': 'perhaps' } }),
        'FLUXQ_SETTING_INVALID: metadata.labels',
      );
      await refused(make({ labels: { 'fluxqueue/holt': 'true' } }), 'FLUXQ_SETTING_INVALID: metadata.labels');
      const inTemplate = make({}, specOf(kind, { annotations: { 'fluxqueue/walltime': '1h' } }));
      await refused(inTemplate, `FLUXQ_SETTING_INVALID: ${kind.podSets.in.join('.')}: `);
      for (const key of [ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION, ENDED_ANNOTATION])
        await refused(
          make({ annotations: { [key]: '1' } }),
          `FLUXQ_RESERVED: metadata.annotations["${key}"]`,
        );
      await refused(make({ labels: { [KUEUE_QUEUE_LABEL]: 'team' } }), 'FLUXQ_OTHER_QUEUE: ');
    });

    test('is not taken with a rule that keeps pods of other namespaces from nodes', async () => {
      const ofAll = (where: Fields) => {
        const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: {}, ...where };
        const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
        return specOf(kind, {}, { affinity: { podAntiAffinity } });
      };
      const problem = `FLUXQ_REACH: ${kind.podSets.in.join('.')}: podAntiAffinity: `;
      await refused(make({}, ofAll({ namespaceSelector: {} })), problem);
      await refused(make({}, ofAll({ namespaces: ['beta'] })), problem);
      const waiting = await created('policies', make({}, ofAll({})));
      const later = { spec: ofAll({ namespaces: ['beta'] }) };
      await denied(users.patch(ALICE, 'policies', waiting, later), problem);
    });

    test('is not taken with more pod sets than a workload can have, nor given them later', async () => {
      const sets = (count: number) =>
        specOf(kind, {}, {}, Object.fromEntries(Array.from({ length: count - 1 }, (_, i) => [`S${i}`, {}])));
      const problem = `FLUXQ_POD_SETS: ${kind.podSets.in.join('.')}: has too many sets of pods`;
      await refused(make({}, sets(MOST_POD_SETS + 1)), problem);
      const waiting = await created('policies', make({}, sets(MOST_POD_SETS)));
      await denied(users.patch(ALICE, 'policies', waiting, { spec: sets(MOST_POD_SETS + 1) }), problem);
    });

    test('is not taken with a longer grace period than pods may have, in any of its pod sets', async () => {
      const pods = (spec: Fields) => specOf(kind, {}, spec, { Master: {} });
      const ending = (seconds: number) => pods({ terminationGracePeriodSeconds: seconds });
      const probed = (seconds: number) => {
        const livenessProbe = { exec: { command: ['true'] }, terminationGracePeriodSeconds: seconds };
        return pods({
          initContainers: [{ ...CONTAINER, name: 'beside', restartPolicy: 'Always', livenessProbe }],
        });
      };
      const problem = `FLUXQ_GRACE_PERIOD: ${kind.podSets.in.join('.')}.`;
      for (const spec of [ending, probed]) await refused(make({}, spec(3601)), problem);
      for (const spec of [ending, probed]) {
        const waiting = await created('policies', make({}, spec(3600)));
        await denied(users.patch(ALICE, 'policies', waiting, { spec: spec(3601) }), problem);
      }
    });

    test('is not taken with a PriorityClass that not every user may use, in any of its pod sets', async () => {
      // Not in the first of them.
      const classed = (priorityClassName: string) => specOf(kind, {}, { priorityClassName }, { Master: {} });
      const problem = 'FLUXQ_PRIORITY: priorityClassName: ';
      // The apiserver knows a new class a moment after it has stored it.
      for (const form of FORMS)
        await getCluster().waitFor('the class', async () => {
          const { status } = await users.create(ALICE, form, make({}, classed('urgent')));
          return status === 403;
        });
      await refused(make({}, classed('urgent')), problem);
      const waiting = await created('policies', make({}, classed('later')));
      await denied(users.patch(ALICE, 'policies', waiting, { spec: classed('urgent') }), problem);
    });

    test.each(FORMS)('keeps the controller that it was created for, by %s', async (form) => {
      const { field, builtIn } = kind.managedBy;
      const elsewhere = withField(make(), field, 'example.com/other') as KubeObject;
      const other = await created(form, elsewhere);
      const own = await created(form, make());
      const problem = `FLUXQ_RESERVED: ${field.join('.')}: cannot be changed`;
      for (const value of [null, builtIn])
        await denied(users.patch(ALICE, form, other, withField({}, field, value) as object), problem);
      await denied(
        users.patch(ALICE, form, own, withField({}, field, 'example.com/other') as object),
        problem,
      );
      await updated(form, own, withField({}, field, builtIn) as object);
    });

    test.each(FORMS)('is scaled by nobody, by %s', async (form) => {
      const sized = await created(form, make({}, { replicas: 1 }));
      for (const user of [ALICE, HPA]) {
        const path = `${kindPath(kind)(form, sized.metadata.name)}/scale`;
        await denied(
          users.send(user, 'PATCH', path, { spec: { replicas: 3 } }),
          `FLUXQ_POD_SETS: spec.replicas: the pods of a ${name} are granted together`,
        );
      }
    });

    const testIfRefused = kind.refused === undefined ? test.skip : test;
    testIfRefused('is not taken with a field that lets its pods become more', async () => {
      for (const { field } of kind.refused!) {
        const set = withField(make(), field, [{ type: 'Resource' }]) as KubeObject;
        await refused(set, `FLUXQ_POD_SETS: ${field.join('.')}: `);
        const waiting = await created('policies', make());
        const later = withField({}, field, [{ type: 'Resource' }]) as object;
        await denied(users.patch(ALICE, 'policies', waiting, later), `FLUXQ_POD_SETS: ${field.join('.')}: `);
        const elsewhere = withField(set, kind.managedBy.field, 'example.com/other') as KubeObject;
        await created('policies', elsewhere);
      }
    });

    test.each(FORMS)('gets back what is the queue’s, and starts by nobody else, by %s', async (form) => {
      const waiting = await created(form, make());
      const resumed = await updated(form, waiting, { spec: suspending(false) });
      expect(isHeld(resumed)).toBe(true);
      const dropped = await updated(form, waiting, { metadata: { labels: null, annotations: null } });
      expect(dropped.metadata).toMatchObject({
        labels: { [ADMITTED_LABEL]: 'true' },
        annotations: { [USER_ANNOTATION]: ALICE },
      });
      const started = await updated(form, waiting, release, CONTROLLER);
      expect(isHeld(started)).toBe(false);
      const { body: changed, warnings } = await users.patch(ALICE, form, started, {
        metadata: { annotations: { [JOBID_ANNOTATION]: '8', [USER_ANNOTATION]: 'root', note: 'x' } },
      });
      expect(warnings.map((text) => /FLUXQ_RESERVED: (\S+): /.exec(text)?.[1] ?? text)).toEqual([
        USER_ANNOTATION,
        JOBID_ANNOTATION,
      ]);
      expect(changed.metadata.annotations).toMatchObject({
        [JOBID_ANNOTATION]: '7',
        [USER_ANNOTATION]: ALICE,
        note: 'x',
      });
      await denied(users.patch(ALICE, form, started, { spec: { more: 'x' } }), 'FLUXQ_RELEASED: spec: ');
      const larger = withField({}, kind.podSets.in, null);
      await denied(users.patch(ALICE, form, started, larger as object), 'FLUXQ_RELEASED: spec: ');
      const stopped = await updated(form, started, { spec: suspending(true) });
      expect(isHeld(stopped)).toBe(true);
      expect(stopped.metadata.labels).toMatchObject({ [HOLD]: 'true' });
      const again = await updated(form, stopped, { spec: suspending(false) });
      expect(again.metadata.labels?.[HOLD]).toBeUndefined();
      expect(isHeld(again)).toBe(true);
    });

    test.each(FORMS)('is changed by the controller in nothing but its grant, by %s', async (form) => {
      const waiting = await created(form, make());
      const tell = (body: object) => users.patch(CONTROLLER, form, waiting, body);
      await denied(tell({ spec: { more: 'x' } }), 'FLUXQ_RESERVED: spec: ');
      await denied(tell({ metadata: { labels: { [ADMITTED_LABEL]: null } } }), 'FLUXQ_RESERVED: metadata: ');
      await denied(tell({ metadata: { annotations: { note: 'x' } } }), 'FLUXQ_RESERVED: metadata: ');
    });

    test.each(FORMS)(
      'has its Jobs and pods made by its controller, and they say for whom, by %s',
      async (form) => {
        const owned = { ownerReferences: [madeFor] };
        const noted = `${name}/x/${UID}`;
        type Template = { template: { metadata: { annotations: Record<string, string> } } };
        const child = await created(form, job({}, owned), OPERATOR);
        expect(child.metadata.labels?.[ADMITTED_LABEL]).toBeUndefined();
        expect((child.spec as { suspend: boolean }).suspend).toBe(false);
        expect((child.spec as Template).template.metadata.annotations).toEqual({
          [OWNER_ANNOTATION]: noted,
          [USER_ANNOTATION]: OPERATOR,
        });
        const claims = { metadata: { annotations: { [OWNER_ANNOTATION]: `${name}/y/other` } } };
        const forged = await created(form, job({}, owned, claims));
        expect((forged.spec as Template).template.metadata.annotations[OWNER_ANNOTATION]).toBe(noted);
        const direct = await created(form, pod({}, owned), OPERATOR);
        expect(direct.metadata.annotations?.[OWNER_ANNOTATION]).toBe(noted);
        expect((direct.spec as { schedulingGates: object[] }).schedulingGates).toEqual([
          { name: 'fluxqueue' },
        ]);
        const ofJob = { apiVersion: 'batch/v1', kind: 'Job', name: 'x-0', uid: UID, controller: true };
        const fromJob = { ownerReferences: [ofJob], annotations: { [OWNER_ANNOTATION]: noted } };
        const indirect = await created(form, pod({}, fromJob), JOB_CONTROLLER);
        expect(indirect.metadata.annotations?.[OWNER_ANNOTATION]).toBe(noted);
      },
    );

    test.each(FORMS)('is claimed by no other pod or Job, by %s', async (form) => {
      const claim = { annotations: { [OWNER_ANNOTATION]: `${name}/x/${UID}` } };
      const bare = await created(form, pod({}, claim));
      expect(bare.metadata.annotations?.[OWNER_ANNOTATION]).toBeUndefined();
      const plain = await created(form, pod());
      await denied(
        users.patch(ALICE, form, plain, { metadata: claim }),
        `FLUXQ_RESERVED: metadata.annotations["${OWNER_ANNOTATION}"]`,
      );
      await denied(
        users.create(ALICE, form, job({}, {}, { metadata: claim })),
        `spec.template.metadata.annotations["${OWNER_ANNOTATION}"]`,
      );
    });
  });
});

/** Fields of the pod sets of a kind. @param metadata of the pod template @param spec more of its pod spec @param others pod specs of pod sets before it, by name */
function specOf(
  { podSets: { in: path, name, template } }: WorkloadKind,
  metadata: Fields = {},
  spec: Fields = {},
  others: Readonly<Record<string, Fields>> = {},
): Fields {
  const set = (made: Fields) => ({
    replicas: 1,
    ...(withField({}, template, { metadata, spec: { containers: [CONTAINER], ...made } }) as object),
  });
  const sets = Object.entries({ ...others, Worker: spec }).map(([key, made]) => [key, set(made)] as const);
  const value =
    name === undefined
      ? Object.fromEntries(sets)
      : sets.map(([key, made]) => ({ name: key.toLowerCase(), ...made }));
  return (withField({}, path, value) as { spec: Fields }).spec;
}

/** By whichever of the guards, or the webhook. */
async function denied(reply: Promise<Reply>, text: string): Promise<void> {
  const { status, body } = await reply;
  expect(body.message).toContain(text);
  expect([403, 422]).toContain(status);
}
