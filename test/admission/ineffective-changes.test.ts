/** Changes without an effect: each one is accepted with a Warning, in both forms of admission. */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  DEADLINE_ANNOTATION,
  GATE,
  GROUP,
  GROUP_MEMBER_ANNOTATION,
  GROUP_SIZE,
  IGNORED_ANNOTATION,
  SUSPEND_ANNOTATION,
  USER_ANNOTATION,
} from '../../constructs/api/labels';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { JOB_CONTROLLER, job, pod } from './corpus-objects';
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
  change(
    'a deadline that only a late start allows',
    spec({ activeDeadlineSeconds: 900 }),
    ['spec.activeDeadlineSeconds'],
    'activeDeadlineSeconds',
  ),
  change('an earlier deadline', spec({ activeDeadlineSeconds: 500 }), []),
  change('the deadline from before the release', spec({ activeDeadlineSeconds: 7_200 }), []),
  change('the end of a hold', labels({ 'fluxqueue/hold': null }), []),
  change('a label', labels({ tier: 'gold' }), []),
  change('a suspension', spec({ suspend: true, parallelism: 3 }), []),
];

/** Settings of what runs, and those that a change has: the same for each kind. */
const SETTINGS: readonly (readonly [string, string])[] = [
  ['fluxqueue/hold', 'true'],
  ['fluxqueue/priority', '-5'],
  ['fluxqueue/walltime', '2h'],
  ['fluxqueue/queue', 'night'],
  ['fluxqueue/exclusive', 'true'],
  ['fluxqueue/preemptible', 'true'],
  ['fluxqueue/checkpoint-interval', '30m'],
  ['fluxqueue/gang-size', '2'],
  ['fluxqueue/after', 'prepare'],
];

const INDEX = { [COMPLETION_INDEX_ANNOTATION]: '0' };

describeCluster('a change without an effect', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });

  const started = (namespace: string) => startedJob(namespace, { parallelism: 2, completions: 4 });

  async function startedJob(namespace: string, pods: object): Promise<KubeObject> {
    const asked = { ...pods, activeDeadlineSeconds: 7_200 };
    const made = await accepted(users.create(ALICE, namespace, job(asked)));
    const released = {
      metadata: { annotations: { [DEADLINE_ANNOTATION]: '600+3600/7200' } },
      spec: { suspend: false, activeDeadlineSeconds: 4_200 },
    };
    return accepted(users.patch(CONTROLLER, namespace, made, released));
  }

  async function startedPod(
    namespace: string,
    { nodeName }: { nodeName?: string } = {},
  ): Promise<KubeObject> {
    const made = await accepted(users.create(ALICE, namespace, pod()));
    expect(made.spec).toMatchObject({ schedulingGates: [{ name: GATE }] });
    const released = await accepted(
      users.patch(CONTROLLER, namespace, made, spec({ schedulingGates: null })),
    );
    if (nodeName === undefined) return released;
    const { name } = made.metadata;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    const target = { apiVersion: 'v1', kind: 'Node', name: nodeName };
    await accepted(
      users.send(undefined, 'POST', `${path}/binding`, {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name },
        target,
      }),
    );
    return accepted(users.send(undefined, 'GET', path));
  }

  /** As Kubernetes writes it, which may be about to write its own. */
  async function ended(object: KubeObject, group: string, plural: string, status: object): Promise<void> {
    const { namespace, name } = object.metadata;
    await getCluster().waitFor(`the end of ${name}`, async () => {
      const path = `${group}/namespaces/${namespace}/${plural}/${name}/status`;
      return (await users.send(undefined, 'PATCH', path, { status })).status === 200;
    });
  }

  /** The fields that the warnings name. */
  const warned = (warnings: readonly string[]) =>
    warnings.map((text) => /FLUXQ_(?:RELEASED|RESERVED): (\S+): /.exec(text)?.[1] ?? text);

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

    it('a manifest that is put again has the replacements from before the release, and no warning', async () => {
      const made = await accepted(users.create(ALICE, form, job({ parallelism: 2, completions: 2 })));
      const release = spec({ suspend: false, podReplacementPolicy: 'Failed' });
      const train = await accepted(users.patch(CONTROLLER, form, made, release));
      const again = spec({ podReplacementPolicy: 'TerminatingOrFailed' });
      const { status, body: now, warnings } = await users.patch(ALICE, form, train, again);
      expect([status, warnings]).toEqual([200, []]);
      expect(now.spec).toMatchObject({ podReplacementPolicy: 'Failed' });
      expect(now.metadata.annotations).not.toHaveProperty([IGNORED_ANNOTATION]);
    });

    it.each(SETTINGS)('%s of a Job or Pod that runs is warned about', async (key, value) => {
      const change = { metadata: { annotations: { [key]: value } } };
      const [train, serve] = [await started(form), await startedPod(form)];
      for (const [object, stop] of [
        [train, /submit another Job"$|suspend: true to stop it/],
        [serve, /submit another Pod"$|delete it to stop it/],
      ] as const) {
        const { status, warnings } = await users.patch(ALICE, form, object, change);
        expect([status, warned(warnings)]).toEqual([200, [key]]);
        expect(warnings[0]).toMatch(stop);
      }
    });

    it('a group of a Pod that runs is warned about, and refused of one that runs in a group', async () => {
      const ring = { annotations: { [GROUP]: 'ring', [GROUP_SIZE]: '2' } };
      const serve = await startedPod(form);
      const { status, warnings } = await users.patch(ALICE, form, serve, { metadata: ring });
      expect([status, warned(warnings)]).toEqual([200, [GROUP, GROUP_SIZE]]);
      const made = await accepted(users.create(ALICE, form, pod({}, ring)));
      const released = {
        metadata: { annotations: { [GROUP_MEMBER_ANNOTATION]: 'group-u/set' } },
        spec: { schedulingGates: null },
      };
      const member = await accepted(users.patch(CONTROLLER, form, made, released));
      const other = { metadata: { annotations: { [GROUP]: 'other' } } };
      const refused = await users.patch(ALICE, form, member, other);
      expect([refused.status, warned(refused.warnings)]).toEqual([403, []]);
    });

    it.each([...SETTINGS, [GROUP, 'ring'] as const])(
      '%s of a pod that a Job made is warned about',
      async (key, value) => {
        const granted = { annotations: { [ASSIGNMENT_ANNOTATION]: '0/1:n', ...INDEX } };
        const { name, uid } = (await started(form)).metadata;
        const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true };
        const ofJob = pod({}, { ...granted, ownerReferences: [owner] });
        const made = await accepted(users.create(JOB_CONTROLLER, form, ofJob));
        // One that names a group has both of its settings.
        const size = key === GROUP ? { [GROUP_SIZE]: '2' } : {};
        const { status, warnings } = await users.patch(ALICE, form, made, {
          metadata: { annotations: { [key]: value, ...size } },
        });
        expect([status, warned(warnings)]).toEqual([200, [key, ...Object.keys(size)]]);
        expect(warnings[0]).toContain('has no effect on a pod of a Job; set it in the metadata of the Job');
      },
    );

    it.each(['fluxqueue/waltime', 'fluxqueue/walltime'])(
      'a wrong setting %s of a Job or Pod that runs is refused, and can be removed',
      async (key) => {
        const bound = await startedPod(form, { nodeName: 'somewhere' });
        for (const object of [await started(form), bound]) {
          const change = (value: string | null) => ({ metadata: { annotations: { [key]: value } } });
          const { status, body } = await users.patch(ALICE, form, object, change('1 hour'));
          expect([status, body.message]).toEqual([403, expect.stringContaining('FLUXQ_SETTING_INVALID')]);
          await accepted(users.patch(ALICE, form, object, change(null)));
        }
      },
    );

    it('what has ended is changed without a warning', async () => {
      const change = { metadata: { annotations: { 'fluxqueue/priority': '-5' } } };
      const [train, serve] = [await startedJob(form, { parallelism: 0 }), await startedPod(form)];
      await ended(train, '/apis/batch/v1', 'jobs', {
        conditions: ['FailureTarget', 'Failed'].map((type) => ({ type, status: 'True' })),
      });
      await ended(serve, '/api/v1', 'pods', { phase: 'Succeeded' });
      for (const object of [train, serve]) {
        const { status, warnings } = await users.patch(ALICE, form, object, change);
        expect([status, warnings]).toEqual([200, []]);
      }
    });

    it('suspend: false of a Job that waits changes nothing, as if its manifest were applied again', async () => {
      const waiting = await accepted(users.create(ALICE, form, job()));
      const { status, body, warnings } = await users.patch(ALICE, form, waiting, spec({ suspend: false }));
      const { annotations, generation } = body.metadata;
      expect([status, warnings, annotations, generation, body.spec]).toEqual([
        200,
        [],
        waiting.metadata.annotations,
        waiting.metadata.generation,
        waiting.spec,
      ]);
    });

    it('the end of a suspension has an effect, and so have settings of what waits', async () => {
      const held = await accepted(users.create(ALICE, form, job({ suspend: true })));
      expect((await users.patch(ALICE, form, held, spec({ suspend: false }))).warnings).toEqual([]);
      const waiting = await accepted(users.create(ALICE, form, pod()));
      expect(
        (await users.patch(ALICE, form, waiting, labels({ 'fluxqueue/hold': 'true' }))).warnings,
      ).toEqual([]);
    });

    it('a mark of the queue that is overwritten is put back with a warning, of what waits and what runs', async () => {
      const marks = {
        labels: { [ADMITTED_LABEL]: 'false' },
        annotations: { [USER_ANNOTATION]: 'bob', [DEADLINE_ANNOTATION]: '1/2', [SUSPEND_ANNOTATION]: 'x' },
      };
      const keys = [ADMITTED_LABEL, USER_ANNOTATION, DEADLINE_ANNOTATION, SUSPEND_ANNOTATION];
      const made = [await started(form), await accepted(users.create(ALICE, form, job({ parallelism: 2 })))];
      for (const object of made) {
        const change = { metadata: marks, ...spec({ parallelism: 3 }) };
        const isStarted = object.metadata.annotations?.[DEADLINE_ANNOTATION] !== undefined;
        const { status, body: now, warnings } = await users.patch(ALICE, form, object, change);
        const fields = isStarted ? ['spec.parallelism', ...keys] : keys;
        expect([status, warned(warnings).toSorted()]).toEqual([200, fields.toSorted()]);
        expect(now.metadata.labels).toEqual(object.metadata.labels);
        const { [IGNORED_ANNOTATION]: note, ...annotations } = now.metadata.annotations!;
        expect([annotations, note]).toEqual([
          object.metadata.annotations,
          [...keys, ...(isStarted ? ['parallelism'] : [])].join(','),
        ]);
        const dropped = { metadata: { labels: null, annotations: null } };
        const again = await users.patch(ALICE, form, now, { ...dropped, ...spec({ parallelism: 2 }) });
        expect([again.status, again.warnings]).toEqual([200, []]);
        expect(again.body.metadata.annotations).toEqual(object.metadata.annotations);
      }
    });

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
