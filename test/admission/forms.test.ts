/** The corpus through both forms of admission on a real apiserver. */
import type { WebhookServer } from '../../runtime/admission/server';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { CORPUS } from './corpus';
import { expectOutcome } from './expected-outcome';
import { FORMS, type Form, installForms, PLAIN } from './forms';
import { ADMIN, type Entry, userOf } from './objects';
import { type Reply, type Users, usersOf } from './users';

describeCluster(
  'the two forms of admission',
  (getCluster) => {
    let webhook: WebhookServer;
    let users: Users;
    beforeAll(async () => {
      webhook = await installForms(getCluster());
      users = usersOf(getCluster());
    });
    afterAll(async () => {
      users?.close();
      await webhook?.stop();
    });

    const create = (namespace: string, { object, as }: Entry) => users.create(as, namespace, object);

    it.each(CORPUS)('come out alike: $object.kind: $title', async (entry) => {
      const replies = {} as Record<Form, Reply>;
      for (const form of FORMS) replies[form] = await create(form, entry);
      const { policies, webhook: answered } = replies;
      expect(policies.status).toBe(answered.status);
      if (entry.expectedOutcome.is === 'denied') {
        expect(policies.status).toBe(422);
        const { code, field } = entry.expectedOutcome;
        for (const form of FORMS) expect(ourPart(replies[form])).toMatch(`${code}: ${field}: `);
        expect(ourPart(policies)).toBe(ourPart(answered));
      } else if (entry.expectedOutcome.is === 'invalid') {
        for (const form of FORMS) expect(replies[form].body.message).toMatch(/is invalid: /);
      } else {
        expect(policies.status).toBe(201);
        expect(normalised(policies)).toEqual(normalised(answered));
        const before = await create(PLAIN, entry);
        expect(before.status).toBe(201);
        expectOutcome(
          normalised(before),
          normalised(policies),
          entry.expectedOutcome,
          userOf(entry.as ?? ADMIN),
        );
      }
    });
  },
  { scheduler: false },
);

/** The sentence without the words that the apiserver puts before it. */
function ourPart({ body }: Reply): string {
  return /FLUXQ_.*/s.exec(body.message ?? '')?.[0] ?? `no code in: ${body.message}`;
}

/**
 * Kubernetes writes these labels into a Job's template, and from there into a Job that has no label
 * of its own: with our label it has one.
 */
const GENERATED = ['controller-uid', 'job-name'].flatMap((name) => [name, `batch.kubernetes.io/${name}`]);

/** Without what differs between any two objects. */
function normalised({ body }: Reply): KubeObject {
  const text = JSON.stringify(body)
    .replaceAll(body.metadata.uid ?? '', 'UID')
    .replaceAll(/kube-api-access-[a-z0-9]+/g, 'kube-api-access');
  const { apiVersion, kind, metadata, spec } = JSON.parse(text) as KubeObject & {
    spec: { template?: { metadata?: { labels?: Record<string, string> } } };
  };
  const { annotations = {}, ownerReferences, finalizers } = metadata;
  const labels = withoutGenerated(metadata.labels);
  const template = spec.template?.metadata;
  if (template !== undefined) template.labels = withoutGenerated(template.labels);
  return { apiVersion, kind, metadata: { labels, annotations, ownerReferences, finalizers }, spec };
}

function withoutGenerated(labels: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !GENERATED.includes(key)));
}
