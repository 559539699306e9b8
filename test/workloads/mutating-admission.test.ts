/** Which webhooks and policies of a cluster may change the pods of a namespace, and when that is another answer. */
import { ApiError } from '../../runtime/kubernetes/errors';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import type { Logger } from '../../runtime/observability/log';
import { MutatingAdmission } from '../../runtime/workloads/mutating-admission';
import { ManualClock, settle } from '../kubernetes/manual-clock';
import { recordingLogger } from '../kubernetes/recording-logger';

const PODS = { apiGroups: [''], operations: ['CREATE'], resources: ['pods'] };
type Lists = Partial<Record<'webhook' | 'policy' | 'binding', readonly object[]>>;
const RESOURCES: Readonly<Record<string, keyof Lists>> = {
  mutatingwebhookconfigurations: 'webhook',
  mutatingadmissionpolicies: 'policy',
  mutatingadmissionpolicybindings: 'binding',
};

const object = (name: string, more: object, metadata: object = {}) => ({
  metadata: { name, uid: name, generation: 1, resourceVersion: '1', ...metadata },
  ...more,
});
const webhook = (rules: readonly object[] = [PODS], more: object = {}, metadata: object = {}) =>
  object('mesh', { webhooks: [{ rules, ...more }] }, metadata);
const policy = (more: object = {}) =>
  object('sidecars', { spec: { matchConstraints: { resourceRules: [PODS], ...more } } });
const binding = (more: object = {}) => object('binding', { spec: { policyName: 'sidecars', ...more } });
const only = (team: string) => ({ namespaceSelector: { matchLabels: { team } } });

async function watched(lists: Lists, status?: number) {
  const clock = new ManualClock();
  const events = new Map<keyof Lists, (event: { type: string; object: KubernetesObject }) => void>();
  const client = {
    list: async (path: string) => {
      const kind = RESOURCES[path.split('/').at(-1)!]!;
      if (status !== undefined && kind !== 'webhook')
        throw new ApiError({ status, reason: 'Unknown', message: 'no', retryAfterSeconds: undefined });
      return { items: lists[kind] ?? [], metadata: { resourceVersion: '1' } };
    },
    watch: (path: string, _options: object, onEvent: never) => {
      events.set(RESOURCES[path.split('/').at(-1)!]!, onEvent);
      return new Promise(() => undefined);
    },
  };
  const admission = new MutatingAdmission({
    client: client as never,
    logger: recordingLogger() as unknown as Logger,
    time: { clock, random: () => 0.5, wall: () => 0 },
    labelsOf: (name) => (name === 'unknown' ? undefined : { team: name }),
  });
  let changes = 0;
  admission.changed.subscribe(() => {
    changes += 1;
  });
  admission.start();
  await settle();
  return {
    admission,
    clock,
    send: (kind: keyof Lists, type: string, one: object) =>
      events.get(kind)!({ type, object: one as KubernetesObject }),
    changes: () => changes,
  };
}

test.each<[string, Lists, boolean]>([
  ['a webhook that is asked about new pods', { webhook: [webhook()] }, true],
  [
    'one that is asked about everything',
    { webhook: [webhook([{ apiGroups: ['*'], operations: ['*'], resources: ['*'] }])] },
    true,
  ],
  ['one of everything with subresources', { webhook: [webhook([{ ...PODS, resources: ['*/*'] }])] }, true],
  ['one that is asked about Jobs', { webhook: [webhook([{ ...PODS, apiGroups: ['batch'] }])] }, false],
  ['one that is asked about changes', { webhook: [webhook([{ ...PODS, operations: ['UPDATE'] }])] }, false],
  ['one of other namespaces', { webhook: [webhook([PODS], only('other'))] }, false],
  ['one of this namespace', { webhook: [webhook([PODS], only('science'))] }, true],
  [
    "the queue's own",
    { webhook: [webhook([PODS], {}, { labels: { 'app.kubernetes.io/part-of': 'fluxqueue' } })] },
    false,
  ],
  ['a policy with a binding', { policy: [policy()], binding: [binding()] }, true],
  ['a policy without a binding', { policy: [policy()] }, false],
  ['a policy of other namespaces', { policy: [policy(only('other'))], binding: [binding()] }, false],
  [
    'a binding of other namespaces',
    { policy: [policy()], binding: [binding({ matchResources: only('other') })] },
    false,
  ],
])('whether pods may be changed is known of %s', async (_, lists, may) => {
  const { admission } = await watched(lists);
  expect(admission.versionFor('science') !== undefined).toBe(may);
});

test('a namespace whose labels are not known may be selected', async () => {
  const { admission } = await watched({ webhook: [webhook([PODS], only('science'))] });
  expect(admission.versionFor('unknown')).toBeDefined();
  expect(admission.versionFor('other')).toBeUndefined();
});

test('an apiserver without policies has webhooks alone', async () => {
  const { admission } = await watched({ webhook: [webhook()] }, 404);
  expect([admission.isKnown, admission.versionFor('science')]).toEqual([true, 'mesh/1']);
});

test('a change is another version, and once more when every apiserver goes by it', async () => {
  const { admission, clock, send, changes } = await watched({ webhook: [webhook()] });
  const [first, before] = [admission.versionFor('science'), changes()];
  send('webhook', 'MODIFIED', webhook([PODS], {}, { generation: 2, resourceVersion: '2' }));
  const second = admission.versionFor('science');
  expect(changes()).toBe(before + 1);
  await clock.advance(10_000);
  const third = admission.versionFor('science');
  expect(changes()).toBe(before + 2);
  expect(new Set([first, second, third]).size).toBe(3);
  send('webhook', 'DELETED', webhook([PODS], {}, { resourceVersion: '3' }));
  expect(admission.versionFor('science')).toBeUndefined();
  admission.stop();
});
