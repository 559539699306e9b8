/** Changes of a running MiniCluster without an effect: each one is accepted with a Warning, in both forms of admission. */
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { FORMS, useForms } from './forms';
import { ALICE, accepted, type Users } from './users';

const SPEC = { size: 1, walltime: '10m', deadlineSeconds: 600, containers: [{ image: 'a:1' }] };
const CHANGES: readonly (readonly [change: object, fields: readonly string[]])[] = [
  [{ walltime: '2h' }, ['walltime']],
  [{ walltime: null }, ['walltime']],
  [{ deadlineSeconds: 900 }, ['deadlineSeconds']],
  [{ deadlineSeconds: null }, ['deadlineSeconds']],
  [{ deadlineSeconds: 300 }, []],
  [{ walltime: '2h', suspend: true }, []],
  [{ containers: [{ image: 'a:2' }] }, ['containers']],
  [{ pod: { labels: { app: 'x' } }, priority: 5, queue: 'night' }, ['pod', 'priority', 'queue']],
  [{ size: 2, maxSize: 2 }, []],
  [{ size: 3, maxSize: 4 }, ['maxSize', 'size']],
];

describeCluster('a change of a MiniCluster', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });
  const warned = (warnings: readonly string[]) =>
    warnings.flatMap((text) => /FLUXQ_RELEASED: spec\.(\S+): /.exec(text)?.[1] ?? []).sort();
  let count = 0;

  async function inPhase(namespace: string, status: object): Promise<KubeObject> {
    count += 1;
    const made = await accepted(
      users.create(ALICE, namespace, {
        apiVersion: 'flux-framework.org/v1alpha2',
        kind: 'MiniCluster',
        metadata: { name: `changed-${count}` },
        spec: SPEC,
      } as KubeObject),
    );
    const path = `/apis/flux-framework.org/v1alpha2/namespaces/${namespace}/miniclusters/changed-${count}/status`;
    await accepted(users.send(undefined, 'PATCH', path, { status }));
    return made;
  }

  describe.each([...FORMS])('in the namespace of the %s', (form) => {
    beforeAll(async () => {
      const probe = await inPhase(form, { phase: 'Running' });
      let hours = 1;
      await getCluster().waitFor('the guard that warns', async () => {
        hours += 1;
        const { warnings } = await users.patch(ALICE, form, probe, { spec: { walltime: `${hours}h` } });
        return warnings.length > 0;
      });
    });

    it.each(CHANGES)('%j is warned about, for %j, exactly while it runs', async (spec, fields) => {
      for (const [phase, expected] of [
        [{ phase: 'Running', maximumSize: 2 }, fields],
        [{ phase: 'Ready', maximumSize: 2 }, fields],
        [{ phase: 'Waiting' }, []],
        [{ phase: 'Finished', result: 'Succeeded' }, []],
      ] as const) {
        const { status, warnings } = await users.patch(ALICE, form, await inPhase(form, phase), { spec });
        expect([phase, status, warned(warnings)]).toEqual([phase, 200, expected]);
      }
    });
  });
});
