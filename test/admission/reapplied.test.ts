/** `kubectl apply` of the same manifest, in every phase of a Job and in both forms of admission, on a real apiserver. */
import { HOLD } from '../../constructs/api/labels';
import type { Job } from '../../runtime/kubernetes/types';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { FORMS, type Form, useForms } from './forms';
import { APPLIERS, type Applier, applyAs, liftHold, named, release, stateOf } from './git';
import type { Users } from './users';

const metadata = { labels: { app: 'x' }, annotations: { note: 'x' } };

/** Manifests of Jobs that the queue starts, and of those that wait until their user releases them. */
const STARTING: readonly KubeObject[] = [
  named('plain'),
  named('described', { parallelism: 2, completions: 2 }, metadata, { metadata }),
  named('settled', { activeDeadlineSeconds: 600 }, { annotations: { 'fluxqueue/walltime': '10m' } }),
  named('forced', { activeDeadlineSeconds: 7200, suspend: false }),
  named('never-held', { suspend: true }, { annotations: { [HOLD]: 'false' } }),
  named(
    'claiming',
    {},
    { labels: { 'fluxqueue/admitted': 'false' }, annotations: { 'fluxqueue/user': 'bob' } },
  ),
];
const HELD: readonly KubeObject[] = [
  named('suspended', { suspend: true }),
  named('held', {}, { annotations: { [HOLD]: 'true' } }),
  named('held-and-suspended', { suspend: true }, { labels: { [HOLD]: 'true' } }),
  named('held-and-forced', { suspend: false }, { labels: { [HOLD]: 'true' } }),
];
/** Their users lift the hold by hand. */
const LIFTED: readonly KubeObject[] = [named('lifted', { suspend: true })];

/** Fields of which the live value is the queue's: another manager needs force, as Kubernetes has it. */
const CONFLICTING = ['forced', 'never-held', 'claiming', 'held-and-forced', 'lifted'];

type Scene = () => Promise<void>;

describeCluster('a manifest that is applied again', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });

  const MAKERS = ['client-side apply', 'server-side apply'] as const;
  const cases = FORMS.flatMap((form) => MAKERS.map((maker) => [form, maker] as const));

  /** What happens to the Jobs of one form and maker, in turn; the four of them are independent. */
  function scenesOf(form: Form, maker: (typeof MAKERS)[number]): readonly Scene[] {
    const suffix = maker.split('-')[0]!;
    const all = (manifests: readonly KubeObject[]) =>
      manifests.map((one) => ({
        ...one,
        metadata: { ...one.metadata, name: `${one.metadata.name}-${suffix}` },
      }));
    const [starting, held, lifted] = [all(STARTING), all(HELD), all(LIFTED)];
    const states = (manifests: readonly KubeObject[]) =>
      Promise.all(manifests.map((one) => stateOf(getCluster(), form, one.metadata.name!)));

    /** Applies the manifests twice in every way that suits their maker. */
    async function changesNothing(manifests: readonly KubeObject[]): Promise<void> {
      const before = await states(manifests);
      const ways = (Object.keys(APPLIERS) as Applier[]).filter(
        (applier) => applier === maker || !MAKERS.some((one) => one === applier),
      );
      for (const applier of [...ways, ...ways]) {
        const mayConflict = applier === 'server-side apply by another manager';
        const applied = manifests.filter(
          ({ metadata: { name } }) => !mayConflict || !CONFLICTING.includes(name!.replace(`-${suffix}`, '')),
        );
        expect([applier, await applyAs(getCluster(), form, applier, applied)]).toEqual([applier, '']);
        expect(await states(manifests)).toEqual(before);
      }
    }

    return [
      async () => {
        const manifests = [...starting, ...held, ...lifted];
        expect(await applyAs(getCluster(), form, maker, manifests)).toBe('');
        await changesNothing(manifests);
      },
      async () => {
        for (const one of lifted) await liftHold(users, form, one);
        for (const one of [...starting, ...lifted]) await release(users, form, one);
        await changesNothing([...starting, ...lifted, ...held]);
      },
      async () => {
        // Nothing conflicts with its own deadline, except the one of this test.
        const ended = [...starting, ...lifted].filter(
          ({ metadata: { name } }) => name !== `settled-${suffix}`,
        );
        for (const one of ended) await release(users, form, one, 1, 0);
        for (const {
          metadata: { name },
        } of ended)
          await getCluster().waitFor(`the end of ${name}`, async () => {
            const path = `/apis/batch/v1/namespaces/${form}/jobs/${name}`;
            const { status } = await getCluster().get<Job>(path);
            return status?.conditions?.some(({ type, status: is }) => type === 'Failed' && is === 'True');
          });
        await changesNothing(ended);
      },
    ];
  }

  /** Of each form and maker, the scenes: each begins when the one before has passed. */
  const played = new Map<string, readonly Promise<void>[]>();
  beforeAll(() => {
    for (const [form, maker] of cases) {
      let last = Promise.resolve();
      const outcomes = scenesOf(form, maker).map((scene) => {
        last = last.then(scene);
        // It fails in its own test, not before.
        last.catch(() => undefined);
        return last;
      });
      played.set(`${form} ${maker}`, outcomes);
    }
  });

  describe.each(cases)('in the namespace of the %s, created by %s', (form, maker) => {
    it.each([
      ['while the Jobs wait', 0],
      ['while the Jobs run', 1],
      ['after the Jobs have ended', 2],
    ])('changes nothing %s', (_, scene) => played.get(`${form} ${maker}`)![scene]);
  });
});
