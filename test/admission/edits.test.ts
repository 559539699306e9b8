/** Edits of Jobs in Git: what a user means by them, and what is an attempt to get around the queue. */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  DEADLINE_ANNOTATION,
  HOLD,
  JOBID_ANNOTATION,
  SUSPEND_ANNOTATION,
  USER_ANNOTATION,
} from '../../constructs/api/labels';
import type { Job } from '../../runtime/kubernetes/types';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { type Fields, job } from './corpus-objects';
import { FORMS, useForms } from './forms';
import { applyAs, liftHold, named, release, stateOf } from './git';
import { ALICE, CONTROLLER, type Users } from './users';

type Phase = 'waiting' | 'running' | 'waiting again';

interface Edit {
  readonly title: string;
  readonly phase: Phase;
  /** Whether its user lifts the hold of admission by hand before. */
  readonly lifted?: boolean;
  /** Spec, metadata and template of the manifest before and after the edit. */
  readonly from: readonly [spec: Fields, metadata?: Fields, template?: Fields];
  readonly to: readonly [spec: Fields, metadata?: Fields, template?: Fields];
  readonly result: {
    readonly suspended: boolean;
    /** The hold; undefined for none. */
    readonly hold?: string;
    /** What admission notes about the wish of the user. */
    readonly noted?: string;
  };
}

const hold = (value: string) => ({ [HOLD]: value });

const EDITS: readonly Edit[] = [
  {
    title: 'the hold annotation is removed',
    phase: 'waiting',
    from: [{}, { annotations: { ...hold('true'), note: 'x' } }],
    to: [{}, { annotations: { note: 'x' } }],
    result: { suspended: true },
  },
  {
    title: 'the hold annotation is removed with the whole map',
    phase: 'waiting',
    from: [{}, { annotations: hold('true') }],
    to: [{}],
    result: { suspended: true },
  },
  {
    title: 'the hold label is removed with the whole map',
    phase: 'waiting',
    from: [{}, { labels: hold('true') }],
    to: [{}],
    result: { suspended: true },
  },
  {
    title: 'suspend: true is removed',
    phase: 'waiting',
    from: [{ suspend: true }],
    to: [{}],
    result: { suspended: true },
  },
  {
    title: 'suspend: true becomes false',
    phase: 'waiting',
    from: [{ suspend: true }],
    to: [{ suspend: false }],
    result: { suspended: true },
  },
  {
    title: 'suspend: true is removed, the hold stays',
    phase: 'waiting',
    from: [{ suspend: true }, { annotations: hold('true') }],
    to: [{}, { annotations: hold('true') }],
    result: { suspended: true, hold: 'true' },
  },
  {
    title: 'the hold is removed, suspend: true stays',
    phase: 'waiting',
    from: [{ suspend: true }, { annotations: hold('true') }],
    to: [{ suspend: true }],
    result: { suspended: true, noted: 'true' },
  },
  {
    title: 'all labels are removed from a Job that admission holds',
    phase: 'waiting',
    from: [{ suspend: true }, { labels: { app: 'x' } }],
    to: [{ suspend: true }],
    result: { suspended: true, hold: 'true', noted: 'held' },
  },
  {
    title: 'all labels and annotations are removed',
    phase: 'running',
    from: [{}, { labels: { app: 'x' }, annotations: { note: 'x' } }],
    to: [{}],
    result: { suspended: false },
  },
  {
    title: 'a label and suspend: false are added',
    phase: 'running',
    from: [{}],
    to: [{ suspend: false }, { labels: { app: 'x' } }],
    result: { suspended: false },
  },
  {
    title: 'suspend: true is added',
    phase: 'running',
    from: [{}],
    to: [{ suspend: true }],
    result: { suspended: true, hold: 'true', noted: 'held' },
  },
  {
    title: 'suspend: true is added to a Job that is never held',
    phase: 'running',
    from: [{}, { labels: hold('false') }],
    to: [{ suspend: true }, { labels: hold('false') }],
    result: { suspended: false, hold: 'false', noted: 'true' },
  },
  {
    title: 'a hold and suspend: true',
    phase: 'running',
    from: [{ suspend: true }, { labels: hold('false') }],
    to: [{ suspend: true }, { labels: hold('true') }],
    result: { suspended: true, hold: 'true', noted: 'true' },
  },
  {
    title: 'suspend: true is removed after a lifted hold',
    phase: 'running',
    lifted: true,
    from: [{ suspend: true }],
    to: [{}, { labels: { app: 'x' } }],
    result: { suspended: false, noted: 'held' },
  },
  {
    title: 'the annotations of the template are removed after a requeue',
    phase: 'waiting again',
    from: [{}, {}, { metadata: { labels: { app: 'x' }, annotations: { note: 'x' } } }],
    to: [{}, {}, { metadata: { labels: { app: 'x' } } }],
    result: { suspended: true },
  },
];

describeCluster('an edit in Git', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });

  const patch = async (user: string, form: string, object: KubeObject, body: object) => {
    const { status, body: reply } = await users.patch(user, form, object, body);
    expect([status, reply.message ?? '']).toEqual([200, '']);
    return reply;
  };

  async function reach(phase: Phase, form: string, object: KubeObject): Promise<void> {
    if (phase === 'waiting') return;
    await release(users, form, object);
    if (phase === 'running') return;
    // A Job that the Job controller has not started yet looks as one that it has suspended, and is started after that.
    await awaitStatus(form, object, 'start', ({ startTime }) => startTime !== undefined);
    await patch(CONTROLLER, form, object, { spec: { suspend: true } });
    await awaitStatus(form, object, 'suspend', ({ startTime }) => startTime === undefined);
  }

  async function awaitStatus(
    form: string,
    { metadata: { name } }: KubeObject,
    verb: string,
    reached: (status: NonNullable<Job['status']>) => boolean,
  ): Promise<void> {
    await getCluster().waitFor(`the Job controller to ${verb} it`, async () => {
      const { status } = await getCluster().get<Job>(`/apis/batch/v1/namespaces/${form}/jobs/${name}`);
      return reached(status ?? {});
    });
  }

  const MAKERS = ['client-side apply', 'server-side apply'] as const;
  describe.each(FORMS.flatMap((form) => MAKERS.map((maker) => [form, maker] as const)))(
    'in the namespace of the %s, by %s',
    (form, maker) => {
      const cases = EDITS.map((edit, i) => ({ ...edit, name: `edit-${i}-${maker.split('-')[0]}` }));
      const outputs: string[] = [];
      /** Of each Job before the edit, and after each time that it was applied. */
      const states = new Map<string, Awaited<ReturnType<typeof stateOf>>[]>();

      // kubectl applies the manifests of all edits at once, as it does with a repository: its start takes longest.
      beforeAll(async () => {
        const apply = async (manifests: readonly KubeObject[]) => {
          outputs.push(await applyAs(getCluster(), form, maker, manifests));
        };
        const look = () =>
          Promise.all(
            cases.map(async ({ name }) =>
              states.set(name, [...(states.get(name) ?? []), await stateOf(getCluster(), form, name)]),
            ),
          );
        const before = cases.map(({ name, from }) => named(name, ...from));
        await apply(before);
        await Promise.all(
          cases.map(async ({ phase, lifted }, i) => {
            if (lifted === true) await liftHold(users, form, before[i]!);
            await reach(phase, form, before[i]!);
          }),
        );
        await look();
        // Any number of times.
        for (let n = 0; n < 2; n++) {
          await apply(cases.map(({ name, to }) => named(name, ...to)));
          await look();
        }
      });

      it.each(cases)('$phase: $title', ({ name, result }) => {
        expect(outputs).toEqual(['', '', '']);
        const [earlier, ...later] = states.get(name)!;
        expect(later).toHaveLength(2);
        for (const { metadata, spec } of later) {
          const { labels = {}, annotations = {} } = metadata;
          expect(metadata.uid).toBe(earlier!.metadata.uid);
          expect([spec.suspend, annotations[HOLD] ?? labels[HOLD], annotations[SUSPEND_ANNOTATION]]).toEqual([
            result.suspended,
            result.hold,
            result.noted,
          ]);
          expect([labels[ADMITTED_LABEL], annotations[USER_ANNOTATION]]).toEqual(['true', ALICE]);
          expect(annotations[DEADLINE_ANNOTATION]).toBe(earlier!.metadata.annotations?.[DEADLINE_ANNOTATION]);
          for (const key of [ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION])
            expect(spec.template.metadata?.annotations?.[key]).toBe(
              earlier!.spec.template.metadata?.annotations?.[key],
            );
        }
      });
    },
  );

  describe.each([...FORMS])('in the namespace of the %s', (form) => {
    const made = async (spec: Fields = {}) => {
      const { status, body } = await users.create(ALICE, form, job(spec));
      expect([status, body.message ?? '']).toEqual([201, '']);
      return body;
    };

    it('a Job that its user suspends waits until the same user resumes it', async () => {
      const train = await made();
      await release(users, form, train);
      const stopped = await patch(ALICE, form, train, { spec: { suspend: true } });
      expect(stopped).toMatchObject({ metadata: { labels: hold('true') }, spec: { suspend: true } });
      const resumed = await patch(ALICE, form, train, { spec: { suspend: false } });
      expect(resumed.metadata.labels).not.toHaveProperty([HOLD]);
      expect(resumed.spec).toMatchObject({ suspend: true });
      expect(resumed.metadata.annotations).not.toHaveProperty([SUSPEND_ANNOTATION]);
    });

    it.each([
      [
        'an assignment',
        { spec: { template: { metadata: { annotations: { [ASSIGNMENT_ANNOTATION]: '0/1:n' } } } } },
      ],
      ['an assignment of the Job', { metadata: { annotations: { [ASSIGNMENT_ANNOTATION]: '0/1:n' } } }],
      ['a job id', { spec: { template: { metadata: { annotations: { [JOBID_ANNOTATION]: '8' } } } } }],
      ['a job id of the Job', { metadata: { annotations: { [JOBID_ANNOTATION]: '8' } } }],
      ['an invalid setting', { metadata: { labels: { 'fluxqueue/walltime': 'soon' } } }],
      ['an unknown setting', { metadata: { labels: { 'fluxqueue/pirority': '1' } } }],
    ])('%s is Forbidden, never Invalid', async (_, body) => {
      for (const phase of ['waiting', 'waiting again'] as const) {
        const train = await made();
        await reach(phase, form, train);
        const { status, body: reply } = await users.patch(ALICE, form, train, body);
        expect([status, (reply as { reason?: string }).reason]).toEqual([403, 'Forbidden']);
        expect(reply.message).toContain('FLUXQ_');
      }
    });
  });
});
