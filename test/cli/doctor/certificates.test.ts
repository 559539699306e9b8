import { makeCertificate } from '../../../runtime/admission/certificates';
import {
  checkDatabaseCertificate,
  webhookCertificateFindings,
} from '../../../runtime/cli/doctor/certificates';
import { fakeContext } from './fake-context';
import { metadata, NOW } from './objects';

const DAY = 24 * 3600 * 1000;
const NAMES = ['fluxqueue-webhook.fluxqueue-system.svc'];
const PLACE = { namespace: 'fluxqueue-system', secret: 'fluxqueue-webhook-tls' };

const configuration = (bundle: string) => ({
  metadata: metadata('fluxqueue'),
  webhooks: [{ name: 'jobs', clientConfig: { caBundle: Buffer.from(bundle).toString('base64') } }],
});

const made = (names = NAMES) => makeCertificate({ names, now: new Date(NOW), days: 365 });

test('a trusted certificate says how many days are left', async () => {
  const { cert, bundle } = await made();
  expect(webhookCertificateFindings(configuration(bundle), cert, { ...PLACE, now: NOW })).toEqual([
    {
      level: 'ok',
      message: 'the certificate of the webhook (Secret fluxqueue-webhook-tls) is valid for another 365 days',
    },
  ]);
});

test.each([
  [310, 'warning', 'expires in 55 days and was not renewed in time'],
  [368, 'error', 'expired 3 days ago'],
])('after %d days it is a finding: %s', async (days, level, message) => {
  const { cert, bundle } = await made();
  const found = webhookCertificateFindings(configuration(bundle), cert, { ...PLACE, now: NOW + days * DAY });
  expect(found).toEqual([
    {
      level,
      message: `the certificate of the webhook (Secret fluxqueue-webhook-tls) ${message}`,
      remedy: expect.stringContaining('kubectl -n fluxqueue-system delete secret fluxqueue-webhook-tls'),
    },
  ]);
});

test('a CA that did not sign the certificate is an error, also beside others', async () => {
  const [ours, other] = await Promise.all([made(), made()]);
  const both = configuration(`${other.bundle}${ours.bundle}`);
  expect(webhookCertificateFindings(both, ours.cert, { ...PLACE, now: NOW })).toMatchObject([
    { level: 'ok' },
  ]);
  const found = webhookCertificateFindings(configuration(other.bundle), ours.cert, { ...PLACE, now: NOW });
  expect(found[1]).toEqual({
    level: 'error',
    message:
      'the apiserver does not trust the certificate of the webhook: no CA in the caBundle of jobs signed it',
    remedy: expect.stringContaining('rollout restart deployment/fluxqueue-webhook'),
  });
});

test('a certificate for another name, and text that is none, are errors', async () => {
  const { cert, bundle } = await made(['elsewhere.svc']);
  expect(webhookCertificateFindings(configuration(bundle), cert, { ...PLACE, now: NOW })[1]?.message).toBe(
    `the certificate of the webhook is not for ${NAMES[0]}, which the apiserver calls`,
  );
  expect(webhookCertificateFindings(configuration(bundle), 'none', { ...PLACE, now: NOW })).toMatchObject([
    { level: 'error', message: 'tls.crt in Secret fluxqueue-webhook-tls is no certificate' },
  ]);
});

test("the certificate of the stack's own Postgres is looked at, that of another database is not", async () => {
  const { cert } = await makeCertificate({ names: NAMES, now: new Date(NOW), days: 3650 });
  const data = { 'tls.crt': Buffer.from(cert).toString('base64') };
  const secret = { metadata: metadata('fluxqueue-database'), data };
  const cluster = { '/api/v1/namespaces/fluxqueue-system/secrets/fluxqueue-database': secret };
  expect(await checkDatabaseCertificate(fakeContext(cluster))).toEqual([]);
  const own = [{ metadata: metadata('fluxqueue-database') }];
  const statefulSets = '/apis/apps/v1/namespaces/fluxqueue-system/statefulsets';
  expect(await checkDatabaseCertificate(fakeContext({ ...cluster, [statefulSets]: own }))).toEqual([
    {
      level: 'ok',
      message: 'the certificate of the database (Secret fluxqueue-database) is valid for another 3650 days',
    },
  ]);
});
