/** The note of what the deadline of a released pod is for, in both forms of admission on a real apiserver. */
import { DEADLINE_ANNOTATION } from '../../constructs/api/labels';
import { describeCluster } from '../cluster/suite';
import { JOB_CONTROLLER, OTHER_CONTROLLERS, ownedBy, pod } from './corpus-objects';
import { FORMS, useForms } from './forms';
import { ALICE, accepted, CONTROLLER, denied, type Users } from './users';

describeCluster('the deadline of a pod', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });

  describe.each([...FORMS])('in the namespace of the %s', (namespace) => {
    it('only the runtime notes what of the deadline of a pod is for its start', async () => {
      const start = `FLUXQ_RESERVED: metadata.annotations["${DEADLINE_ANNOTATION}"]: `;
      const noted = (note: string | null) => ({ annotations: { [DEADLINE_ANNOTATION]: note } });
      const lasts = (note: string | null, seconds: number) => ({
        metadata: noted(note),
        spec: { activeDeadlineSeconds: seconds },
      });
      for (const [user, object] of [
        [ALICE, pod({ activeDeadlineSeconds: 3_660 }, noted('60+3600/864000'))],
        [ALICE, pod({}, { ...noted('60/none'), ...ownedBy('apps/v1', 'ReplicaSet') })],
        [JOB_CONTROLLER, pod({}, { ...noted('60/none'), ...ownedBy('batch/v1', 'Job') })],
        ...OTHER_CONTROLLERS.map((each) => [each, pod({}, noted('60/none'))] as const),
      ] as const)
        await denied(users.create(user, namespace, object), start);
      const probe = await accepted(users.create(ALICE, namespace, pod()));
      await denied(users.patch(ALICE, namespace, probe, { metadata: noted('60/none') }), start);
      const release = lasts('60+3600/none', 3_660);
      const { spec, metadata } = await accepted(
        users.patch(CONTROLLER, namespace, probe, {
          ...release,
          spec: { ...release.spec, schedulingGates: null },
        }),
      );
      expect({ spec, metadata }).toMatchObject(release);
      for (const note of ['60+3600/864000', '3660/none', '', null])
        await denied(users.patch(ALICE, namespace, probe, { metadata: noted(note) }), start);
      // Kubernetes lets nobody extend it.
      expect((await users.patch(ALICE, namespace, probe, lasts('60+3600/none', 3_661))).status).toBe(422);
      await accepted(users.patch(ALICE, namespace, probe, lasts('60+3600/none', 3_600)));
      await accepted(users.patch(CONTROLLER, namespace, probe, lasts('70/none', 70)));
    });
  });
});
