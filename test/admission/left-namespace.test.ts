/** A namespace that leaves the queue while its Jobs wait and run: Git still has their manifests, and what admission corrected. */
import { NAMESPACE_LABEL } from '../../constructs/api/labels';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { job } from './corpus-objects';
import { FORMS, type Form, makeNamespace, useForms } from './forms';
import { applyAs, named, release, stateOf } from './git';
import type { Users } from './users';

const MAKERS = ['client-side apply', 'server-side apply'] as const;

const metadata = { labels: { app: 'x' }, annotations: { note: 'x' } };
/** A walltime below the deadline in Git, claims, and a template: what the queue or admission writes differs from all of them. */
const MANIFESTS: readonly KubeObject[] = [
  named('plain'),
  named('long', { activeDeadlineSeconds: 31_500_000 }),
  named('described', { parallelism: 2, completions: 2, suspend: false }, metadata, { metadata }),
  named(
    'claiming',
    {},
    { labels: { 'fluxqueue/admitted': 'false' }, annotations: { 'fluxqueue/user': 'bob' } },
  ),
];

describeCluster('a namespace that left the queue', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });

  const cases = FORMS.flatMap((form) => MAKERS.map((maker) => [form, maker] as const));
  const manifestsOf = (maker: string, phase: string) =>
    MANIFESTS.map((one) => ({
      ...one,
      metadata: { ...one.metadata, name: `${one.metadata.name}-${phase}-${maker.split('-')[0]}` },
    }));

  beforeAll(async () => {
    for (const [form, maker] of cases) {
      const [waiting, running] = [manifestsOf(maker, 'waiting'), manifestsOf(maker, 'running')];
      expect(await applyAs(getCluster(), form, maker, [...waiting, ...running])).toBe('');
      for (const one of running) await release(users, form, one);
    }
    for (const form of FORMS) await leave(form);
  });

  /** Resolves when new Jobs start without the queue. */
  async function leave(form: Form): Promise<void> {
    await makeNamespace(getCluster(), form, { [NAMESPACE_LABEL]: 'false', form });
    await getCluster().waitFor(`${form} to leave the queue`, async () => {
      const path = `/apis/batch/v1/namespaces/${form}/jobs?dryRun=All`;
      const { text } = await getCluster().api.send('POST', path, job());
      return !text.includes('"suspend":true');
    });
  }

  it.each(cases)('takes the manifests of its Jobs as before: %s, %s', async (form, maker) => {
    for (const phase of ['waiting', 'running']) {
      const manifests = manifestsOf(maker, phase);
      const states = () =>
        Promise.all(manifests.map((one) => stateOf(getCluster(), form, one.metadata.name!)));
      const before = await states();
      for (let n = 0; n < 2; n++) {
        expect([phase, await applyAs(getCluster(), form, maker, manifests)]).toEqual([phase, '']);
        expect(await states()).toEqual(before);
      }
    }
  });
});
