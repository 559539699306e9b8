/**
 * Where the webhook's certificate comes from. By default the webhook makes it, and writes its CA to the webhook configuration
 * (docs/decisions/0009-certificates.md). With cert-manager the webhook only reads files, and cert-manager's CA injector writes the CA.
 */
import { ApiObject } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { WEBHOOK_SERVICE } from '../api/labels';
import { checkByRules, group, type PropRules, required } from '../api/prop-rules';
import { text } from '../api/rules';
import { type ComponentProps, objectMetadata, Wave } from '../metadata';

/** Name of the Certificate and of its Secret. The webhook's own Secret has another type, which cannot change. */
const NAME = 'fluxqueue-webhook-certificate';
const CA = 'fluxqueue-webhook-ca';
const FOLDER = '/run/fluxqueue-certificate';

export interface CertManagerProps {
  /** Issuer of the certificate, e.g. `{ kind: 'ClusterIssuer', name: 'internal' }`; it must publish its CA in the Secret's `ca.crt`. */
  readonly issuer?: CertificateIssuer;
}

export interface CertificateIssuer {
  /** Name of the issuer. */
  readonly name: string;
  /** Kind of the issuer. @default Issuer, in the namespace of the stack */
  readonly kind?: string;
  /** API group of the issuer. @default cert-manager.io */
  readonly group?: string;
}

const ISSUER: PropRules<CertificateIssuer> = { name: required(text), kind: text, group: text };
const CERT_MANAGER: PropRules<CertManagerProps> = { issuer: group(ISSUER) };

/** Source of the webhook's certificate. */
export class WebhookCertificate {
  private constructor(
    /** Settings of cert-manager. @default - the webhook makes its certificate */
    readonly certManager?: CertManagerProps,
  ) {}

  /** The webhook makes a CA and a certificate, and renews them. */
  static selfMade(): WebhookCertificate {
    return new WebhookCertificate();
  }

  /** cert-manager, which must be installed, issues and renews the certificate; by default with a CA of the stack's own. @throws PropsError for a wrong prop */
  static certManager(props: CertManagerProps = {}): WebhookCertificate {
    checkByRules('WebhookCertificate.certManager', props, CERT_MANAGER);
    return new WebhookCertificate(props);
  }
}

/** Annotation of the webhook configuration. */
export function caInjection(namespace: string): Record<string, string> {
  return { 'cert-manager.io/inject-ca-from': `${namespace}/${NAME}` };
}

/** Files of the certificate in the webhook's pods: the kubelet starts no pod before the Secret exists. */
export const certificateFiles = {
  folder: FOLDER,
  volume: { name: 'certificate', secret: { secretName: NAME } } satisfies k8s.Volume,
  mount: { name: 'certificate', mountPath: FOLDER, readOnly: true } satisfies k8s.VolumeMount,
} as const;

/** Objects of cert-manager: the certificate, and its issuers if the stack has its own CA. */
export class CertManagerCertificate extends Construct {
  private readonly namespace: string;

  constructor(scope: Construct, id: string, props: CertManagerProps & ComponentProps) {
    super(scope, id);
    const { namespace, issuer } = props;
    this.namespace = namespace;
    if (issuer === undefined) this.addOwnCa();
    const names = ['', `.${namespace}`, `.${namespace}.svc`, `.${namespace}.svc.cluster.local`];
    this.add('certificate', 'Certificate', NAME, {
      secretName: NAME,
      dnsNames: names.map((name) => `${WEBHOOK_SERVICE}${name}`),
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
      usages: ['server auth'],
      issuerRef: issuerRef(issuer ?? { name: CA }),
    });
  }

  private addOwnCa(): void {
    this.add('root', 'Issuer', `${CA}-root`, { selfSigned: {} });
    this.add('ca-certificate', 'Certificate', CA, {
      secretName: CA,
      isCA: true,
      commonName: CA,
      duration: '87600h',
      privateKey: { algorithm: 'ECDSA', size: 256 },
      issuerRef: issuerRef({ name: `${CA}-root` }),
    });
    this.add('ca', 'Issuer', CA, { ca: { secretName: CA } });
  }

  private add(id: string, kind: string, name: string, spec: object): void {
    const { namespace } = this;
    new ApiObject(this, id, {
      apiVersion: 'cert-manager.io/v1',
      kind,
      metadata: objectMetadata({ name, namespace, component: 'webhook', wave: Wave.RIGHTS }),
      spec,
    });
  }
}

function issuerRef({ name, kind = 'Issuer', group = 'cert-manager.io' }: CertificateIssuer) {
  return { name, kind, group };
}
