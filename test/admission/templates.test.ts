/** What the template of a Job may not say of its pods, whoever made the Job, on a real apiserver. */
import {
  COMPLETION_INDEX_ANNOTATION,
  DEADLINE_ANNOTATION,
  GROUP_MEMBER_ANNOTATION,
  WALLTIME,
} from '../../constructs/api/labels';
import { WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { describeCluster } from '../cluster/suite';
import { job, ownedBy } from './corpus-objects';
import { FORMS, useForms } from './forms';
import { ALICE, accepted, denied, type Users } from './users';

describeCluster('the template of a Job', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });

  describe.each([...FORMS])('in the namespace of the %s', (namespace) => {
    const two = { parallelism: 2, completions: 2 };
    const waiting = () => accepted(users.create(ALICE, namespace, job(two)));
    /** A Job that says it was made for another workload can become one of the queue, and the other way round. */
    const owned = WORKLOAD_KINDS.map(({ kind, group, version }) => ownedBy(`${group}/${version}`, kind));

    it('gives no pod of a Job without indexes the index of another', async () => {
      const metadata = { annotations: { [COMPLETION_INDEX_ANNOTATION]: '0' } };
      const start = `FLUXQ_RESERVED: spec.template.metadata.annotations["${COMPLETION_INDEX_ANNOTATION}"]: `;
      const indexed = job({ ...two, completionMode: 'Indexed' }, {}, { metadata });
      await accepted(users.create(ALICE, namespace, indexed));
      const train = await waiting();
      for (const own of [{}, ...owned]) {
        await denied(users.create(ALICE, namespace, job(two, own, { metadata })), start);
        const patch = { metadata: own, spec: { template: { metadata } } };
        await denied(users.patch(ALICE, namespace, train, patch), start);
      }
    });

    it.each([GROUP_MEMBER_ANNOTATION, DEADLINE_ANNOTATION])(
      'has nothing that the queue notes in pods: %s',
      async (key) => {
        const metadata = { annotations: { [key]: 'group-x/y' } };
        const train = await waiting();
        for (const own of [{}, ...owned]) {
          const patch = { metadata: own, spec: { template: { metadata } } };
          for (const request of [
            users.create(ALICE, namespace, job({}, own, { metadata })),
            users.patch(ALICE, namespace, train, patch),
          ]) {
            const { status, body } = await request;
            expect([status, body.message]).toEqual([
              403,
              expect.stringContaining(`: spec.template.metadata.annotations["${key}"]: `),
            ]);
          }
        }
        // The guard of settings looks at no Job that was made for another workload.
        for (const own of owned)
          await denied(
            users.create(ALICE, namespace, job({}, own, { metadata })),
            `FLUXQ_RESERVED: spec.template.metadata.annotations["${key}"]: `,
          );
      },
    );

    it('and the settings of a Job that waits are judged, whatever owner its user gives it', async () => {
      const train = await waiting();
      for (const own of owned)
        await denied(
          users.patch(ALICE, namespace, train, { metadata: { ...own, annotations: { [WALLTIME]: 'soon' } } }),
          'FLUXQ_SETTING_INVALID: ',
        );
    });
  });
});
