/** Certificates: what the apiserver trusts is what the webhook serves, and none of them has expired. */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { WEBHOOK_SECRET, WEBHOOK_SERVICE } from '../../../constructs/api/labels';
import { secrets } from '../../kubernetes/paths';
import { type WebhookConfiguration, webhookConfiguration } from './admission';
import { type Context, duration, error, type Finding, ok, warning } from './finding';
import { type DataObject, secretText } from './objects';

const INJECTED = 'cert-manager.io/inject-ca-from';
const DATABASE = 'fluxqueue-database';

export async function checkWebhookCertificate(context: Context): Promise<readonly Finding[]> {
  const { reader, namespace, now } = context;
  const configuration = await webhookConfiguration(context);
  if (configuration === undefined) return [ok('admission by policies needs no certificate')];
  // cert-manager's Certificate and its Secret have one name in this stack.
  const [, injected] = configuration.metadata.annotations?.[INJECTED]?.split('/') ?? [];
  const name = injected ?? WEBHOOK_SECRET;
  const secret = await reader.get<DataObject>(secrets(namespace, name));
  const leaf = secret === undefined ? undefined : secretText(secret, 'tls.crt');
  if (leaf === undefined)
    return [
      error(
        `Secret ${name} in ${namespace} has no certificate for the webhook`,
        `see that the pods of ${WEBHOOK_SERVICE} run: they make it, or wait for cert-manager`,
      ),
    ];
  return webhookCertificateFindings(configuration, leaf, { namespace, secret: name, now });
}

interface Place {
  readonly namespace: string;
  /** Name of the Secret. */
  readonly secret: string;
  readonly now: number;
}

/** @internal exported for tests */
export function webhookCertificateFindings(
  { webhooks = [] }: WebhookConfiguration,
  pem: string,
  { namespace, secret, now }: Place,
): readonly Finding[] {
  const leaf = parsed(pem);
  if (leaf === undefined)
    return [error(`tls.crt in Secret ${secret} is no certificate`, renewal(namespace, secret))];
  const untrusted = webhooks.filter(({ clientConfig: { caBundle = '' } }) => !isTrusted(leaf, caBundle));
  const host = hostOf(webhooks, namespace);
  const findings = validity(
    leaf,
    `the certificate of the webhook (Secret ${secret})`,
    now,
    renewal(namespace, secret),
  );
  if (untrusted.length > 0)
    findings.push(
      error(
        `the apiserver does not trust the certificate of the webhook: no CA in the caBundle of ${untrusted.map(({ name }) => name).join(', ')} signed it`,
        `kubectl -n ${namespace} rollout restart deployment/${WEBHOOK_SERVICE}: the webhook writes its CA when it starts (with cert-manager, see that its CA injector runs)`,
      ),
    );
  const covers = isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host);
  if (covers === undefined)
    findings.push(
      error(
        `the certificate of the webhook is not for ${host}, which the apiserver calls`,
        renewal(namespace, secret),
      ),
    );
  return findings;
}

function renewal(namespace: string, secret: string): string {
  return `kubectl -n ${namespace} delete secret ${secret}; the webhook, or cert-manager, makes another one`;
}

function hostOf(webhooks: NonNullable<WebhookConfiguration['webhooks']>, namespace: string): string {
  const url = webhooks[0]?.clientConfig.url;
  const service = webhooks[0]?.clientConfig.service;
  if (url !== undefined) return new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  return `${service?.name ?? WEBHOOK_SERVICE}.${service?.namespace ?? namespace}.svc`;
}

function isTrusted(leaf: X509Certificate, caBundle: string): boolean {
  const bundle = Buffer.from(caBundle, 'base64').toString();
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.some((pem) => {
    const ca = parsed(pem);
    return ca !== undefined && leaf.checkIssued(ca) && leaf.verify(ca.publicKey);
  });
}

function parsed(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    // Text that is no certificate is the finding.
    return undefined;
  }
}

/** A certificate that renews itself after two thirds of its time should have done so long before this part of it. */
const LAST_PART = 1 / 6;

/** One finding: expired, soon to expire, or the days that are left. */
function validity(certificate: X509Certificate, what: string, now: number, remedy: string): Finding[] {
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  const left = duration(Math.abs(to - now) / 1000);
  if (to <= now) return [error(`${what} expired ${left} ago`, remedy)];
  if (to - now < (to - from) * LAST_PART)
    return [warning(`${what} expires in ${left} and was not renewed in time`, remedy)];
  return [ok(`${what} is valid for another ${left}`)];
}

/** The stack's own Postgres makes a certificate; another database shows none to the apiserver. */
export async function checkDatabaseCertificate({
  reader,
  namespace,
  now,
}: Context): Promise<readonly Finding[]> {
  const statefulSets = await reader.statefulSets();
  if (!statefulSets.some(({ metadata }) => metadata.name === DATABASE)) return [];
  const secret = await reader.get<DataObject>(secrets(namespace, DATABASE));
  const leaf = parsed(secret === undefined ? '' : (secretText(secret, 'tls.crt') ?? ''));
  // Without a Secret the check of the database says so.
  if (leaf === undefined) return [];
  const remedy = `kubectl -n ${namespace} delete secret ${DATABASE}, then kubectl -n ${namespace} delete pod ${DATABASE}-0: both are made again`;
  return validity(leaf, `the certificate of the database (Secret ${DATABASE})`, now, remedy);
}
