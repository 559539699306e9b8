/** Changes of a started Job without an effect: each one is accepted with a Warning, in both forms of admission. */
import { DEADLINE_ANNOTATION, IGNORED_ANNOTATION } from '../../constructs/api/labels';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { job } from './corpus-objects';
import { FORMS, useForms } from './forms';
import { ALICE, accepted, CONTROLLER, type Users } from './users';

const labels = (entries: object) => ({ metadata: { labels: entries } });
const spec = (fields: object) => ({ spec: fields });

interface Change {
  readonly title: string;
  readonly body: object;
  /** The fields and settings of the warnings. */
  readonly fields: readonly string[];
  /** What admission notes. @default - nothing */
  readonly noted?: string;
}

const change = (title: string, body: object, fields: readonly string[], noted?: string): Change => ({
  title,
  body,
  fields,
  ...(noted === undefined ? {} : { noted }),
});

const CHANGES: readonly Change[] = [
  change('more pods at once', spec({ parallelism: 3 }), ['spec.parallelism'], 'parallelism'),
  change(
    'more pods and time',
    spec({ parallelism: 3, activeDeadlineSeconds: 9_000 }),
    ['spec.parallelism', 'spec.activeDeadlineSeconds'],
    'parallelism,activeDeadlineSeconds',
  ),
  change(
    'another rule of replacement',
    spec({ podReplacementPolicy: 'Failed' }),
    ['spec.podReplacementPolicy'],
    'podReplacementPolicy',
  ),
  change('a hold', labels({ 'fluxqueue/hold': 'true' }), ['fluxqueue/hold']),
  change('a priority', { metadata: { annotations: { 'fluxqueue/priority': '-5' } } }, ['fluxqueue/priority']),
  change('a walltime', { metadata: { annotations: { 'fluxqueue/walltime': '2h' } } }, ['fluxqueue/walltime']),
  change('fewer pods at once', spec({ parallelism: 1 }), []),
  change('the deadline from before the release', spec({ activeDeadlineSeconds: 7_200 }), []),
  change('the end of a hold', labels({ 'fluxqueue/hold': null }), []),
  change('a label', labels({ tier: 'gold' }), []),
  change('a suspension', spec({ suspend: true, parallelism: 3 }), []),
];

describeCluster('a change of a started Job', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });

  async function started(namespace: string): Promise<KubeObject> {
    const asked = { parallelism: 2, completions: 4, activeDeadlineSeconds: 7_200 };
    const made = await accepted(users.create(ALICE, namespace, job(asked)));
    const released = {
      metadata: { annotations: { [DEADLINE_ANNOTATION]: '600/7200' } },
      spec: { suspend: false, activeDeadlineSeconds: 600 },
    };
    return accepted(users.patch(CONTROLLER, namespace, made, released));
  }

  /** The fields that the warnings name. */
  const warned = (warnings: readonly string[]) =>
    warnings.map((text) => /FLUXQ_RELEASED: (\S+): /.exec(text)?.[1] ?? text);

  describe.each([...FORMS])('in the namespace of the %s', (form) => {
    beforeAll(async () => {
      const probe = await started(form);
      await getCluster().waitFor('the guard that warns', async () => {
        const { warnings } = await users.patch(ALICE, form, probe, spec({ parallelism: 3 }));
        return warnings.length > 0;
      });
    });

    it.each(CHANGES)(
      '$title: is warned about exactly if it has no effect',
      async ({ body, fields, noted }) => {
        const train = await started(form);
        const { status, body: now, warnings } = await users.patch(ALICE, form, train, body);
        expect([status, warned(warnings)]).toEqual([200, fields]);
        expect(now.metadata.annotations?.[IGNORED_ANNOTATION]).toBe(noted);
      },
    );

    it('forgets what was wanted with the next update that does not want it', async () => {
      const train = await started(form);
      const wanted = await accepted(users.patch(ALICE, form, train, spec({ parallelism: 3 })));
      expect(wanted.metadata.annotations).toHaveProperty([IGNORED_ANNOTATION]);
      const later = await accepted(users.patch(ALICE, form, train, spec({ parallelism: 2 })));
      expect(later.metadata.annotations).not.toHaveProperty([IGNORED_ANNOTATION]);
    });

    it('is not noted by the user, whose copy of a Job has the note of another', async () => {
      const forged = { annotations: { [IGNORED_ANNOTATION]: 'parallelism' } };
      const made = await accepted(users.create(ALICE, form, job({}, forged)));
      expect(made.metadata.annotations).not.toHaveProperty([IGNORED_ANNOTATION]);
      const train = await started(form);
      const now = await accepted(users.patch(ALICE, form, train, { metadata: forged }));
      expect(now.metadata.annotations).not.toHaveProperty([IGNORED_ANNOTATION]);
    });
  });
});
