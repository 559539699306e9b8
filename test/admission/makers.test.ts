/** Objects for which controllers make those of workload kinds, in both forms of admission on a real apiserver. */
import { ADMITTED_LABEL, USER_ANNOTATION } from '../../constructs/api/labels';
import { makerKinds } from '../../constructs/api/workload-kinds';
import { apiVersionOf } from '../../runtime/kubernetes/kind-fields';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { applyStandIns } from '../kinds/stand-in';
import { FORMS, useForms } from './forms';
import { ALICE, accepted, denied, type Users } from './users';

describeCluster('an object for which a controller makes a workload', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });
  beforeAll(async () => {
    for (const form of FORMS) await applyStandIns(getCluster(), form);
  });

  describe.each(makerKinds().map((maker) => [maker.kind, maker] as const))('%s', (kind, maker) => {
    const make = (metadata: object = {}): KubeObject => ({
      apiVersion: apiVersionOf(maker),
      kind,
      metadata: { generateName: 'x-', ...metadata } as KubeObject['metadata'],
      spec: {},
    });

    test.each(FORMS)('has its creator noted, whom nobody changes, and is not held, by %s', async (form) => {
      const made = await accepted(users.create(ALICE, form, make()));
      expect(made.metadata.annotations).toEqual({ [USER_ANNOTATION]: ALICE });
      expect([made.metadata.labels, made.spec]).toEqual([undefined, {}]);
      const claimed = await accepted(
        users.create(ALICE, form, make({ annotations: { [USER_ANNOTATION]: 'root' } })),
      );
      expect(claimed.metadata.annotations).toEqual({ [USER_ANNOTATION]: ALICE });
      for (const annotations of [{ [USER_ANNOTATION]: 'root' }, null]) {
        const body = { metadata: { annotations } };
        const changed = await accepted(users.patch('mallory', form, made, body));
        expect(changed.metadata.annotations).toEqual({ [USER_ANNOTATION]: ALICE });
      }
    });

    test.each(FORMS)('is not taken with settings that would be ignored, by %s', async (form) => {
      const sentence = `FLUXQ_SETTING_INVALID: metadata: a label or annotation fluxqueue/… has no effect on a ${kind}; move it to ${maker.settings}`;
      for (const metadata of [
        { annotations: { 'fluxqueue/walltime': '1h' } },
        { labels: { [ADMITTED_LABEL]: 'true' } },
      ]) {
        await denied(users.create(ALICE, form, make(metadata)), sentence);
        const made = await accepted(users.create(ALICE, form, make()));
        await denied(users.patch(ALICE, form, made, { metadata }), sentence);
      }
    });
  });
});
