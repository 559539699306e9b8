/** The webhook's certificate in a real cluster: how replicas share and renew it, and when the apiserver trusts it. */
import { App, Chart, Testing } from 'cdk8s';
import { AdmissionWebhookConfiguration } from '../../constructs/fluxqueue/admission/webhook-configuration';
import { webhookTrust } from '../../runtime/admission/ca-trust';
import { rotateCertificates } from '../../runtime/admission/certificate-rotation';
import {
  type CertificateStoreOptions,
  ensureCertificate,
  type StoredCertificate,
  serviceNames,
} from '../../runtime/admission/certificate-store';
import { isDue, validCas } from '../../runtime/admission/certificates';
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { createLogger } from '../../runtime/observability/log';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';

const NAMESPACE = 'default';
const CONFIGURATION = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/fluxqueue';
const DAY = 24 * 3600 * 1000;
const daysFromNow = (days: number) => () => new Date(Date.now() + days * DAY);

interface Configuration extends KubeObject {
  webhooks: { clientConfig: { caBundle?: string } }[];
}

describeCluster('the stored certificate', (getCluster) => {
  let client: KubernetesClient;
  let secrets = 0;
  let options: CertificateStoreOptions;
  beforeAll(() => {
    client = createClient({ kubeconfig: getCluster().kubeconfig });
  });
  afterAll(() => client?.close());
  beforeEach(async () => {
    await getCluster().api.send('DELETE', CONFIGURATION);
    secrets += 1;
    options = {
      client,
      namespace: NAMESPACE,
      secretName: `tls-${secrets}`,
      trust: webhookTrust('fluxqueue'),
      names: serviceNames('fluxqueue-webhook', NAMESPACE),
    };
  });

  async function configure(url?: string): Promise<void> {
    const chart = new Chart(new App(), 'test');
    new AdmissionWebhookConfiguration(chart, 'webhook', {
      namespaceLabels: { matches: 'no-namespace' },
      ...(url === undefined ? {} : { url }),
    });
    await getCluster().apply(Testing.synth(chart) as KubeObject[]);
  }
  /** The different bundles of all webhooks. */
  const bundles = async (): Promise<(string | undefined)[]> => {
    const { webhooks } = await getCluster().get<Configuration>(CONFIGURATION);
    expect(webhooks.length).toBeGreaterThan(1);
    const found = webhooks.map(
      ({ clientConfig: { caBundle } }) => caBundle && Buffer.from(caBundle, 'base64').toString(),
    );
    return [...new Set(found)];
  };
  const pairOf = ({ key, cert, bundle }: StoredCertificate) => ({ key, cert, bundle });

  it('is created once and then read from the Secret', async () => {
    const made = await ensureCertificate(options);
    expect(isDue(made, options.names, new Date())).toBe(false);
    expect(made.trusted).toBe(false);
    expect(await ensureCertificate(options)).toEqual(made);
  });

  it('is added to an existing Secret and keeps the other data of that Secret', async () => {
    const metadata = { name: options.secretName, namespace: NAMESPACE, labels: { keep: 'me' } };
    await getCluster().create({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: { other: 'x' } });
    await ensureCertificate(options);
    const secret = await getCluster().get(`/api/v1/namespaces/${NAMESPACE}/secrets/${options.secretName}`);
    expect(secret.metadata.labels).toEqual({ keep: 'me' });
    expect(Object.keys(secret.data as object).sort()).toEqual(['ca.crt', 'other', 'tls.crt', 'tls.key']);
  });

  it('is the same for replicas that start at the same time', async () => {
    await configure();
    const found = await Promise.all(Array.from({ length: 6 }, () => ensureCertificate(options)));
    const stored = await ensureCertificate(options);
    expect(stored.trusted).toBe(true);
    for (const pair of found) expect(pairOf(pair)).toEqual(pairOf(stored));
    expect(await bundles()).toEqual([stored.bundle]);
  });

  it('is trusted once the configuration exists, and again after the configuration was replaced', async () => {
    const { bundle } = await ensureCertificate(options);
    for (let replaced = 0; replaced < 2; replaced++) {
      await getCluster().api.send('DELETE', CONFIGURATION);
      await configure();
      expect(await bundles()).toEqual([undefined]);
      expect((await ensureCertificate(options)).trusted).toBe(false);
      expect((await ensureCertificate(options)).trusted).toBe(true);
      expect(await bundles()).toEqual([bundle]);
    }
  });

  it('covers the host of a URL in the configuration', async () => {
    await ensureCertificate(options);
    await configure('https://127.0.0.1:9443');
    expect(isDue(await ensureCertificate(options), ['127.0.0.1', ...options.names], new Date())).toBe(false);
    await getCluster().api.send('DELETE', CONFIGURATION);
    await configure('https://[::1]:9443');
    expect(isDue(await ensureCertificate(options), ['::1', ...options.names], new Date())).toBe(false);
  });

  it('is renewed after two thirds of its validity, and the previous one stays trusted', async () => {
    await configure();
    const first = await ensureCertificate(options);
    expect(await ensureCertificate({ ...options, now: daysFromNow(242) })).toEqual({
      ...first,
      trusted: true,
    });
    const renewed = await ensureCertificate({ ...options, now: daysFromNow(244) });
    expect(renewed.cert).not.toBe(first.cert);
    expect(validCas(renewed.bundle, new Date())).toHaveLength(2);
    expect(renewed.bundle.endsWith(first.bundle)).toBe(true);
    expect(await bundles()).toEqual([renewed.bundle]);
  });

  it('is served by a running webhook after another replica renewed it', async () => {
    await configure();
    const first = await ensureCertificate(options);
    let served: StoredCertificate = first;
    const rotation = rotateCertificates(first, {
      ...options,
      client,
      logger: createLogger('test', 'silent'),
      onCertificate: (certificate) => {
        served = certificate;
      },
    });
    const renewed = await ensureCertificate({ ...options, now: daysFromNow(300) });
    await getCluster().waitFor('the renewed certificate', async () => served.cert === renewed.cert);
    expect(served.trusted).toBe(true);
    await rotation.stop();
  });

  describe('whose Secret was lost', () => {
    const path = () => `/api/v1/namespaces/${NAMESPACE}/secrets/${options.secretName}`;
    // One request: between a deletion and a creation the running webhook could restore the Secret.
    const emptied = () => client.patch(path(), { data: null }, 'merge');

    it.each([
      ['deleted', () => getCluster().api.send('DELETE', path())],
      ['emptied', emptied],
    ])('because it was %s, is restored from the running webhook and stays trusted', async (_, lose) => {
      await configure();
      await ensureCertificate(options);
      const first = await ensureCertificate(options);
      const served: StoredCertificate[] = [];
      const replicas = [1, 2].map(() =>
        rotateCertificates(first, {
          ...options,
          client,
          logger: createLogger('test', 'silent'),
          onCertificate: (certificate) => served.push(certificate),
        }),
      );
      try {
        await lose();
        await getCluster().waitFor('the Secret', async () => {
          const { data } = await getCluster().get<{ data?: Record<string, string> }>(path());
          return data?.['tls.crt'] !== undefined;
        });
        expect(pairOf(await ensureCertificate(options))).toEqual(pairOf(first));
        expect([served, await bundles()]).toEqual([[], [first.bundle]]);
      } finally {
        for (const replica of replicas) await replica.stop();
      }
    });

    it('is replaced by a new trusted one if no webhook serves it', async () => {
      await configure();
      const first = await ensureCertificate(options);
      await getCluster().api.send('DELETE', path());
      const second = await ensureCertificate(options);
      expect(second.cert).not.toBe(first.cert);
      expect(await bundles()).toEqual([second.bundle]);
    });

    it('is replaced by a new one if it is due for renewal', async () => {
      await configure();
      const first = await ensureCertificate(options);
      await getCluster().api.send('DELETE', path());
      const serving = () => first;
      const second = await ensureCertificate({ ...options, serving, now: daysFromNow(300) });
      expect(second.cert).not.toBe(first.cert);
      expect(second.bundle.endsWith(first.bundle)).toBe(true);
    });
  });

  it('fails with the error of the apiserver if the access is forbidden', async () => {
    const kubeconfig = await getCluster().kubeconfigForServiceAccount('default', NAMESPACE);
    const unprivileged = createClient({ kubeconfig });
    await expect(ensureCertificate({ ...options, client: unprivileged })).rejects.toMatchObject({
      status: 403,
    });
    unprivileged.close();
  });
});
