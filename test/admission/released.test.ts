/** What users can change about a Job that the queue started, in both forms of admission on a real apiserver. */
import { DEADLINE_ANNOTATION } from '../../constructs/api/labels';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { job } from './corpus-objects';
import { FORMS, makeNamespace, untilActive, useForms } from './forms';
import { ALICE, accepted, CONTROLLER, type Users } from './users';

const RELEASE = {
  metadata: { annotations: { [DEADLINE_ANNOTATION]: '600' } },
  spec: { suspend: false, activeDeadlineSeconds: 600 },
};

describeCluster('a started Job', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });

  async function started(namespace: string): Promise<KubeObject> {
    const made = await accepted(users.create(ALICE, namespace, job({ parallelism: 2, completions: 4 })));
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

    it('keeps the deadline that the queue noted', async () => {
      const train = await started(namespace);
      for (const value of [null, '7', ''])
        expect(
          (await edit(train, { metadata: { annotations: { [DEADLINE_ANNOTATION]: value } } })).metadata,
        ).toMatchObject({ annotations: { [DEADLINE_ANNOTATION]: '600' } });
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

  it('cannot be raised either where admission is not active any more', async () => {
    await makeNamespace(getCluster(), 'leaving', { 'fluxqueue/enabled': 'true', form: 'policies' });
    await untilActive(getCluster(), 'leaving');
    const train = await started('leaving');
    await makeNamespace(getCluster(), 'leaving', { form: 'none' });
    for (const [field, value] of [
      ['parallelism', 3],
      ['activeDeadlineSeconds', 601],
      ['activeDeadlineSeconds', null],
    ] as const)
      await getCluster().waitFor(`a refusal of ${field}`, async () => {
        const { status, body } = await users.patch(ALICE, 'leaving', train, { spec: { [field]: value } });
        return status === 403 && body.message?.includes(`FLUXQ_RELEASED: spec.${field}: `);
      });
  });
});
