/** Settings on objects that are no workloads are accepted with a warning, in both forms of admission. */
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { FORMS, useForms } from './forms';
import { ALICE, CONTROLLER, type Users } from './users';

const labels = { app: 'web' };
const template = {
  metadata: { labels },
  spec: { containers: [{ name: 'main', image: 'a:1' }] },
};
const SETTINGS = {
  labels: { 'fluxqueue/queue': 'nope' },
  annotations: { 'fluxqueue/wibble': 'x', 'fluxqueue/hold': 'true', 'fluxqueue/user': 'bob' },
};

interface Case {
  readonly kind: string;
  readonly apiVersion: string;
  readonly spec: object;
  readonly remedy: string;
}

const IN_TEMPLATE = 'move it to spec.template.metadata';
const CASES: readonly Case[] = [
  {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    spec: { replicas: 0, selector: { matchLabels: labels }, template },
    remedy: IN_TEMPLATE,
  },
  {
    kind: 'StatefulSet',
    apiVersion: 'apps/v1',
    spec: { replicas: 0, serviceName: 'web', selector: { matchLabels: labels }, template },
    remedy: IN_TEMPLATE,
  },
  {
    kind: 'ReplicationController',
    apiVersion: 'v1',
    spec: { replicas: 0, selector: labels, template },
    remedy: IN_TEMPLATE,
  },
  {
    kind: 'DaemonSet',
    apiVersion: 'apps/v1',
    spec: { selector: { matchLabels: labels }, template },
    remedy: 'remove it: its pods run beside the queue',
  },
  {
    kind: 'CronJob',
    apiVersion: 'batch/v1',
    spec: {
      schedule: '0 0 1 1 *',
      jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
    },
    remedy: 'move it to spec.jobTemplate.metadata',
  },
  {
    kind: 'MiniCluster',
    apiVersion: 'flux-framework.org/v1alpha2',
    spec: { size: 1, containers: [{ image: 'a:1' }] },
    remedy: 'use spec.queue',
  },
];

describeCluster('a setting on an object that is no workload', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });
  let made = 0;
  const object = ({ kind, apiVersion, spec }: Case, metadata: object = {}): KubeObject => {
    made += 1;
    return { kind, apiVersion, metadata: { name: `unread-${made}`, ...metadata }, spec } as KubeObject;
  };
  /** What the warnings of the queue say after their policy. */
  const sentences = (warnings: readonly string[]) =>
    warnings.flatMap((text) => /FLUXQ_SETTING_INVALID: (.*)"$/.exec(text)?.[1] ?? []);

  describe.each([...FORMS])('in the namespace of the %s', (form) => {
    beforeAll(() =>
      getCluster().waitFor('the guard that warns', async () => {
        const path = `/apis/apps/v1/namespaces/${form}/deployments?dryRun=All`;
        const { warnings } = await users.send(ALICE, 'POST', path, object(CASES[0]!, SETTINGS));
        return warnings.length > 0;
      }),
    );

    it.each(CASES)('$kind: is accepted with a warning that says where it belongs', async (each) => {
      const { status, body, warnings } = await users.create(ALICE, form, object(each, SETTINGS));
      expect([body.message, status]).toEqual([undefined, 201]);
      // Its user is noted on a MiniCluster itself.
      const keys = ['hold', 'wibble', ...(each.kind === 'MiniCluster' ? [] : ['user'])];
      const anyOrder = keys.map((key) => `(?=.*\\bfluxqueue/${key}\\b)`).join('');
      const said = sentences(warnings);
      expect(said).toEqual([
        expect.stringMatching(
          new RegExp(
            `^metadata\\.annotations: each of ${anyOrder}[a-z/, ]+ has no effect on a ${each.kind}; ${each.remedy}`,
          ),
        ),
        expect.stringContaining(
          `metadata.labels: fluxqueue/queue has no effect on a ${each.kind}; ${each.remedy}`,
        ),
      ]);
    });

    it.each(CASES)('$kind: an update is warned about only if it brings the setting', async (each) => {
      const { body, warnings } = await users.create(ALICE, form, object(each));
      expect(sentences(warnings)).toEqual([]);
      const brings = { metadata: { labels: { 'fluxqueue/hold': 'true' } } };
      const first = await users.patch(ALICE, form, body, brings);
      expect([first.status, sentences(first.warnings).length]).toEqual([200, 1]);
      const again = await users.patch(ALICE, form, body, { metadata: { labels: { tier: 'gold' } } });
      expect(sentences(again.warnings)).toEqual([]);
      const byController = await users.patch(CONTROLLER, form, body, {
        metadata: { labels: { 'fluxqueue/hold': 'false' } },
      });
      expect(sentences(byController.warnings)).toEqual([]);
    });

    it('says nothing of what the template says, too', async () => {
      const [deployment] = CASES;
      const label = { 'fluxqueue/queue': 'team' };
      const both = { ...template, metadata: { labels: { ...labels, ...label } } };
      const spec = { ...deployment!.spec, template: both };
      const { status, warnings } = await users.create(
        ALICE,
        form,
        object({ ...deployment!, spec }, { labels: label }),
      );
      expect([status, sentences(warnings)]).toEqual([201, []]);
    });
  });
});
