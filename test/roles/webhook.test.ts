/** The webhook role as it is deployed: it finds its certificate, registers it, and the apiserver calls it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { App, Chart, Testing } from 'cdk8s';
import { ADMITTED_LABEL } from '../../constructs/api/labels';
import { AdmissionWebhookConfiguration } from '../../constructs/fluxqueue/admission/webhook-configuration';
import { makeCertificate, type ServingCertificate } from '../../runtime/admission/certificates';
import { type ConfigInput, parseConfig } from '../../runtime/config';
import { createLogger } from '../../runtime/observability/log';
import type { Role } from '../../runtime/roles/role';
import { startWebhookRole } from '../../runtime/roles/webhook';
import { job } from '../admission/corpus-objects';
import { makeNamespace } from '../admission/forms';
import type { KubeObject } from '../cluster/api';
import { freePorts } from '../cluster/ports';
import { describeCluster } from '../cluster/suite';
import { waitFor } from '../cluster/wait';

const LOOPBACK = '127.0.0.1';
const logger = createLogger('webhook', 'silent');

async function start(webhook: ConfigInput['webhook'], kubeconfig?: string) {
  const [http = 0, https = 0, metrics = 0] = await freePorts(3);
  const config = parseConfig({
    http: { host: LOOPBACK, port: http },
    metrics: { port: metrics },
    webhook: { host: LOOPBACK, port: https, drainSeconds: 0, ...webhook },
    ...(kubeconfig === undefined ? {} : { kubernetes: { kubeconfig } }),
  });
  const role = await startWebhookRole(config, logger);
  const get = (port: number) => (path: string) => fetch(`http://${LOOPBACK}:${port}${path}`);
  return { role, https, probe: get(http), scrape: get(metrics) };
}

describe('the webhook role with a certificate from files', () => {
  let directory: string;
  let role: Role | undefined;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'fluxqueue-webhook-'));
  });
  afterEach(async () => {
    await role?.stop();
    role = undefined;
    rmSync(directory, { recursive: true });
  });
  const write = ({ cert, key }: ServingCertificate) => {
    writeFileSync(join(directory, 'tls.crt'), cert);
    writeFileSync(join(directory, 'tls.key'), key);
  };
  const make = () => makeCertificate({ names: [LOOPBACK], now: new Date() });
  const accepts = (port: number, bundle: string): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect({ port, host: LOOPBACK, ca: bundle }, () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });

  it('serves the certificate, and a new one when the files change', async () => {
    const [first, second] = [await make(), await make()];
    write(first);
    const started = await start({ certDir: directory });
    role = started.role;
    expect(await accepts(started.https, first.bundle)).toBe(true);
    expect((await started.probe('/readyz')).status).toBe(200);
    write(second);
    await waitFor('the new certificate', () => accepts(started.https, second.bundle));
    const metrics = await (await started.scrape('/metrics')).text();
    expect(metrics).toMatch(/^fluxqueue_webhook_certificate_expiry_seconds \d{10}$/m);
  });

  it('reports missing files and leaves no port open', async () => {
    await expect(start({ certDir: directory })).rejects.toMatchObject({
      code: 'FLUXQ_CERTIFICATE_UNREADABLE',
      field: 'webhook.certDir',
    });
  });
});

describeCluster('the webhook role with its own certificate', (getCluster) => {
  it('is called by the apiserver, although its configuration has no caBundle at first', async () => {
    const cluster = getCluster();
    await makeNamespace(cluster, 'on', { 'fluxqueue/enabled': 'true' });
    const { role, https, scrape } = await start(
      { secretNamespace: 'default', secretName: 'own-tls' },
      cluster.kubeconfig,
    );
    try {
      const chart = new Chart(new App(), 'test');
      new AdmissionWebhookConfiguration(chart, 'webhook', { url: `https://${LOOPBACK}:${https}` });
      await cluster.apply(Testing.synth(chart) as KubeObject[]);
      const stored = await cluster.waitFor('an admitted Job', async () => {
        const path = '/apis/batch/v1/namespaces/on/jobs';
        const { status, text } = await cluster.api.send('POST', path, job());
        if (status !== 201) return undefined;
        // The apiserver applies the configuration a moment after it was stored.
        const created = JSON.parse(text) as KubeObject;
        return created.metadata.labels?.[ADMITTED_LABEL] === 'true' ? created : undefined;
      });
      expect(stored.spec).toMatchObject({ suspend: true });
      const metrics = await (await scrape('/metrics')).text();
      expect(metrics).toMatch(/^fluxqueue_admission_seconds_count\{kind="Job",outcome="patched"\} [1-9]/m);
    } finally {
      await role.stop();
    }
  });
});
