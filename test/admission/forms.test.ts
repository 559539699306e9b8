/** The corpus through both forms of admission on a real apiserver. */
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { CORPUS } from './corpus';
import { ADMIN, type Entry, userOf } from './corpus-objects';
import { expectOutcome } from './expected-outcome';
import { FORMS, type Form, PLAIN, useForms } from './forms';
import type { Reply, Users } from './users';

describeCluster('the two forms of admission', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });

  const create = (namespace: string, { object, as }: Entry) => users.create(as, namespace, object);

  it.each(CORPUS)('give the same result for $object.kind: $title', async (entry) => {
    const replies = {} as Record<Form, Reply>;
    for (const form of FORMS) replies[form] = await create(form, entry);
    const { policies, webhook: reply } = replies;
    expect(policies.status).toBe(reply.status);
    if (entry.expectedOutcome.is === 'denied') {
      expect(policies.status).toBe(403);
      const { code, field } = entry.expectedOutcome;
      for (const form of FORMS) expect(messageOf(replies[form])).toMatch(`${code}: ${field}: `);
      expect(messageOf(policies)).toBe(messageOf(reply));
    } else if (entry.expectedOutcome.is === 'invalid') {
      for (const form of FORMS) expect(replies[form].body.message).toMatch(/is invalid: /);
    } else {
      expect(policies.status).toBe(201);
      expect(normalised(policies)).toEqual(normalised(reply));
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
});

/** The message without the prefix of the apiserver. */
function messageOf({ body }: Reply): string {
  return /FLUXQ_.*/s.exec(body.message ?? '')?.[0] ?? `no code in: ${body.message}`;
}

/**
 * Kubernetes writes these labels into a Job's template, and copies them to a Job without labels. An
 * admitted Job has a label, so it does not get them.
 */
const GENERATED = ['controller-uid', 'job-name'].flatMap((name) => [name, `batch.kubernetes.io/${name}`]);

/** The object without the fields that differ between any two objects. */
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
