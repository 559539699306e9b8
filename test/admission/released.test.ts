/** What users can change about a Job that the queue started, in both forms of admission on a real apiserver. */
import { ADMITTED_LABEL, DEADLINE_ANNOTATION } from '../../constructs/api/labels';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { job } from './corpus-objects';
import { FORMS, GUARDED, makeNamespace, useForms } from './forms';
import { EFFECTS } from './schema/effects';
import { ALICE, accepted, CONTROLLER, type Users } from './users';

const RELEASE = {
  metadata: { annotations: { [DEADLINE_ANNOTATION]: '600' } },
  spec: { suspend: false, activeDeadlineSeconds: 600 },
};

interface Schemas {
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties: Readonly<Record<string, unknown>> }>>;
  };
}

describeCluster('a started Job', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });

  async function started(
    namespace: string,
    asked: object = { parallelism: 2, completions: 4 },
  ): Promise<KubeObject> {
    const made = await accepted(users.create(ALICE, namespace, job({ ...asked })));
    return accepted(users.patch(CONTROLLER, namespace, made, RELEASE));
  }

  describe.each([...FORMS])('in the namespace of the %s', (namespace) => {
    const edit = (object: KubeObject, body: object, by = ALICE) =>
      accepted(users.patch(by, namespace, object, body));
    const spec = (fields: object) => ({ spec: fields });

    it.each([
      ['parallelism', 2, [3, 2]],
      ['activeDeadlineSeconds', 600, [601, 2_000_000, null, 600]],
    ])('keeps its %s silently when a user raises or removes it', async (field, granted, values) => {
      const train = await started(namespace);
      for (const value of values)
        expect((await edit(train, spec({ [field]: value }))).spec).toMatchObject({ [field]: granted });
      expect((await edit(train, spec({ [field]: 1 }))).spec).toMatchObject({ [field]: 1 });
      expect((await edit(train, spec({ [field]: granted }))).spec).toMatchObject({ [field]: 1 });
    });

    it('keeps the completions of its grant, which have no node beyond it', async () => {
      const indexed = { completionMode: 'Indexed', parallelism: 8, completions: 2 };
      const train = await started(namespace, indexed);
      for (const fields of [{ completions: 8 }, { completions: 9, parallelism: 9 }])
        expect((await edit(train, spec(fields))).spec).toMatchObject(indexed);
      const less = { completions: 1, parallelism: 1 };
      expect((await edit(train, spec(less))).spec).toMatchObject(less);
      expect((await edit(train, spec({ completions: 2, parallelism: 2 }))).spec).toMatchObject(less);
    });

    it('keeps every field that is not listed as changeable, and the others change', async () => {
      const train = await started(namespace);
      const { podReplacementPolicy, ...kept } = train.spec as Record<string, unknown>;
      expect(podReplacementPolicy).toBe('TerminatingOrFailed');
      const free = { backoffLimit: 1, ttlSecondsAfterFinished: 9 };
      const fields = { podReplacementPolicy: 'Failed', manualSelector: true, ...free };
      const now = (await edit(train, spec(fields))).spec;
      expect(now).toEqual({ ...kept, podReplacementPolicy, ...free });
    });

    it('keeps the deadline that the queue noted', async () => {
      const train = await started(namespace);
      for (const value of [null, '7', ''])
        expect(
          (await edit(train, { metadata: { annotations: { [DEADLINE_ANNOTATION]: value } } })).metadata,
        ).toMatchObject({ annotations: { [DEADLINE_ANNOTATION]: '600' } });
    });

    it('keeps a deadline beyond its own when its manifest is applied again, and takes a shorter one', async () => {
      // It waited for another controller before its grant (decision 50).
      const made = await accepted(
        users.create(ALICE, namespace, job({ parallelism: 1, activeDeadlineSeconds: 300 })),
      );
      const train = await accepted(
        users.patch(CONTROLLER, namespace, made, {
          metadata: { annotations: { [DEADLINE_ANNOTATION]: '2147483647/300' } },
          spec: { suspend: false, activeDeadlineSeconds: 2_147_483_647 },
        }),
      );
      expect((await edit(train, spec({ activeDeadlineSeconds: 300 }))).spec).toMatchObject({
        activeDeadlineSeconds: 2_147_483_647,
      });
      expect((await edit(train, spec({ activeDeadlineSeconds: 200 }))).spec).toMatchObject({
        activeDeadlineSeconds: 200,
      });
    });

    it('takes a deadline within the walltime, and none that only a late start allows', async () => {
      const train = await started(namespace, { parallelism: 1 });
      const made = await accepted(
        users.patch(CONTROLLER, namespace, train, {
          metadata: { annotations: { [DEADLINE_ANNOTATION]: '600+3600/none' } },
          spec: { activeDeadlineSeconds: 4_200 },
        }),
      );
      for (const [given, stays] of [
        [4_199, 4_200],
        [601, 4_200],
        [null, 4_200],
        [600, 600],
        [500, 500],
        [600, 500],
      ] as const)
        expect((await edit(made, spec({ activeDeadlineSeconds: given }))).spec).toMatchObject({
          activeDeadlineSeconds: stays,
        });
    });

    it('can be changed by the runtime, and by its user once it is suspended', async () => {
      const train = await started(namespace);
      expect((await edit(train, spec({ parallelism: 3 }), CONTROLLER)).spec).toMatchObject({
        parallelism: 3,
      });
      const more = { suspend: true, parallelism: 4, activeDeadlineSeconds: 7200 };
      expect((await edit(train, spec(more))).spec).toMatchObject(more);
    });
  });

  it.each([
    ['io.k8s.api.batch.v1', 'JobSpec'],
    ['io.k8s.api.core.v1', 'PodTemplateSpec'],
    ['io.k8s.api.core.v1', 'PodSpec'],
    ['io.k8s.api.core.v1', 'Container'],
    ['io.k8s.apimachinery.pkg.apis.meta.v1', 'ObjectMeta'],
  ])('has no field in its %s.%s of which no effect is known', async (group, type) => {
    const { components } = await getCluster().get<Schemas>('/openapi/v3/apis/batch/v1');
    const fields = Object.keys(components.schemas[`${group}.${type}`]!.properties);
    expect(fields.sort()).toEqual(Object.keys(EFFECTS[type]!).sort());
  });

  it('cannot be raised either by a request that no mutation has seen', async () => {
    await makeNamespace(getCluster(), GUARDED, { 'fluxqueue/enabled': 'true' });
    const admitted = { labels: { [ADMITTED_LABEL]: 'true' } };
    const asked = { suspend: true, parallelism: 2, completions: 4 };
    const made = await accepted(users.create(ALICE, GUARDED, job(asked, admitted)));
    const train = await accepted(users.patch(CONTROLLER, GUARDED, made, RELEASE));
    for (const [field, value] of [
      ['parallelism', 3],
      ['podReplacementPolicy', 'Failed'],
      ['activeDeadlineSeconds', 601],
      ['activeDeadlineSeconds', null],
    ] as const)
      await getCluster().waitFor(`a refusal of ${field}`, async () => {
        const { status, body } = await users.patch(ALICE, GUARDED, train, { spec: { [field]: value } });
        return status === 403 && body.message?.includes(`FLUXQ_RELEASED: spec.${field}: `);
      });
  });
});
