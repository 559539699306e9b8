import {
  GUARDS,
  guardFindings,
  policyFindings,
  WARNINGS,
  webhookFindings,
} from '../../../runtime/cli/doctor/admission';
import { stackObjects } from '../../constructs/manifests';
import { metadata } from './objects';

const POLICY = 'ValidatingAdmissionPolicy';

const smallest = stackObjects({
  kubernetesVersion: '1.37.1',
  admission: 'policies',
  miniClusters: false,
  externalRuntime: {},
});

test('the guards that are expected are those of the smallest stack', () => {
  const rendered = smallest.filter(({ kind }) => kind === POLICY).map(({ metadata }) => metadata.name);
  expect([...GUARDS, ...WARNINGS].map((name) => `fluxqueue-guard-${name}`).sort()).toEqual(rendered.sort());
});

test('the guards of the stack are no finding, and the one that warns has to be there', () => {
  type Guards = Parameters<typeof guardFindings>;
  const policies = smallest.filter(({ kind }) => kind === POLICY) as unknown as Guards[0];
  const bindings = smallest.filter(({ kind }) => kind === `${POLICY}Binding`) as unknown as Guards[1];
  expect(guardFindings(policies, bindings)).toEqual([]);
  const warns = `fluxqueue-guard-${WARNINGS[0]}`;
  const others = policies.filter(({ metadata }) => metadata.name !== warns);
  expect(guardFindings(others, bindings)).toMatchObject([{ message: `${POLICY} is missing: ${warns}` }]);
});

const policy = (name: string, failurePolicy = 'Fail') => ({
  metadata: metadata(name),
  spec: { failurePolicy },
});
const binding = (policyName: string, validationActions: readonly string[] = ['Deny']) => ({
  metadata: metadata(policyName),
  spec: { policyName, validationActions },
});

test('policies with bindings that deny are no finding', () => {
  expect(policyFindings(POLICY, ['a'], [policy('a'), policy('b')], [binding('a'), binding('b')])).toEqual([]);
});

test.each([
  ['is missing', [], [binding('a')], 'ValidatingAdmissionPolicy is missing: a'],
  [
    'has no binding',
    [policy('a')],
    [],
    'ValidatingAdmissionPolicy is not in force, because no binding names it: a',
  ],
  [
    'only warns',
    [policy('a')],
    [binding('a', ['Warn'])],
    'ValidatingAdmissionPolicyBinding does not deny: a',
  ],
  [
    'fails open',
    [policy('a', 'Ignore')],
    [binding('a')],
    'ValidatingAdmissionPolicy lets pass what it cannot evaluate (failurePolicy: Ignore): a',
  ],
])('a policy that %s is an error', (_, policies, bindings, message) => {
  expect(policyFindings(POLICY, ['a'], policies, bindings)).toEqual([
    { level: 'error', message, remedy: expect.stringContaining('fluxqueue-6-admission.k8s.yaml') },
  ]);
});

test('a webhook configuration lacks nothing, and each webhook has a CA', () => {
  const whole = stackObjects({ admission: 'webhook' }).find(
    ({ kind }) => kind === 'MutatingWebhookConfiguration',
  )! as never as { webhooks: { name: string; clientConfig: object }[] };
  const trusted = whole.webhooks.map((each) => ({
    ...each,
    clientConfig: { ...each.clientConfig, caBundle: 'Q0E=' },
  }));
  expect(webhookFindings({ metadata: metadata('fluxqueue'), webhooks: trusted })).toEqual([]);
  const [first, ...others] = trusted;
  expect(webhookFindings({ metadata: metadata('fluxqueue'), webhooks: others })).toMatchObject([
    { level: 'error', message: `the webhook configuration lacks webhooks: ${first!.name}` },
  ]);
  expect(
    webhookFindings({ metadata: metadata('fluxqueue'), webhooks: [...others, whole.webhooks[0]!] }),
  ).toMatchObject([{ level: 'error', message: `webhooks have no CA yet: ${first!.name}` }]);
});
