import type { FluxQueueProps } from '../../../constructs/fluxqueue/index';
import type { KubeObject } from '../../cluster/api';
import { container, find, names, podTemplates, stackObjects } from '../manifests';

describe('the form of admission', () => {
  const WEBHOOK = 'MutatingWebhookConfiguration/fluxqueue';
  const POLICY = 'MutatingAdmissionPolicy/fluxqueue-jobs';

  test.each<[FluxQueueProps, string, string]>([
    [{}, WEBHOOK, POLICY],
    [{ kubernetesVersion: '1.35.9' }, WEBHOOK, POLICY],
    [{ kubernetesVersion: 'v1.36' }, POLICY, WEBHOOK],
    [{ kubernetesVersion: '1.37.1', admission: 'webhook' }, WEBHOOK, POLICY],
    [{ admission: 'policies' }, POLICY, WEBHOOK],
  ])('with props %j is %s', (props, present, absent) => {
    const found = names(stackObjects(props));
    expect(found).toContain(present);
    expect(found).not.toContain(absent);
    expect(found.includes('Deployment/fluxqueue-webhook')).toBe(present === WEBHOOK);
    expect(found.includes('ServiceAccount/fluxqueue-webhook')).toBe(present === WEBHOOK);
    expect(found).toContain('ValidatingAdmissionPolicy/fluxqueue-guard-jobs');
  });

  test.each<[boolean, FluxQueueProps]>([
    [true, {}],
    [true, { externalRuntime: { reader: { host: 'here', port: 1 } }, admission: 'policies' }],
    [false, { readApi: false }],
    [false, { externalRuntime: {}, admission: 'policies' }],
  ])('guards the APIService of the reader: %s with props %j', (isGuarded, props) => {
    const found = names(stackObjects(props));
    expect(found.includes('ValidatingAdmissionPolicy/fluxqueue-guard-reader')).toBe(isGuarded);
    expect(found.includes('ClusterRole/fluxqueue-reader')).toBe(isGuarded);
  });

  test('calls the Service of the webhook at its port', () => {
    const objects = stackObjects();
    const { webhooks } = find<{ webhooks: { clientConfig: { service: unknown } }[] }>(
      objects,
      'MutatingWebhookConfiguration',
      'fluxqueue',
    );
    const service = find<{ spec: { ports: { port: number; targetPort: string }[] } }>(
      objects,
      'Service',
      'fluxqueue-webhook',
    );
    expect(webhooks[0]?.clientConfig.service).toMatchObject({
      namespace: 'fluxqueue-system',
      name: 'fluxqueue-webhook',
      port: service.spec.ports[0]?.port,
    });
    const webhook = container(webhookTemplate(objects), 'webhook');
    expect(webhook.ports).toContainEqual({ name: service.spec.ports[0]?.targetPort, containerPort: 9443 });
  });

  test('calls an external webhook by its URL', () => {
    const objects = stackObjects({
      externalRuntime: { webhookUrl: 'https://127.0.0.1:7443', webhookCa: 'PEM' },
    });
    const { webhooks } = find<{ webhooks: { clientConfig: unknown }[] }>(
      objects,
      'MutatingWebhookConfiguration',
      'fluxqueue',
    );
    expect(webhooks.length).toBeGreaterThan(7);
    for (const { clientConfig } of webhooks)
      expect(clientConfig).toEqual({
        url: 'https://127.0.0.1:7443/mutate',
        caBundle: Buffer.from('PEM').toString('base64'),
      });
  });

  test('lets the users of an external runtime release workloads, and no ServiceAccount', () => {
    const objects = stackObjects({ admission: 'policies', externalRuntime: { users: ['somebody'] } });
    const text = JSON.stringify(find(objects, 'ValidatingAdmissionPolicy', 'fluxqueue-guard-jobs'));
    expect(text).toContain('somebody');
    expect(text).not.toContain('system:serviceaccount:fluxqueue-system:');
  });

  const webhookTemplate = (objects: KubeObject[]) => {
    const template = podTemplates(objects).find(({ owner }) => owner === 'fluxqueue-webhook');
    if (template === undefined) throw new Error('no webhook');
    return template;
  };
});
