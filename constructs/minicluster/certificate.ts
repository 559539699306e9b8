import type { ISecret } from 'cdk8s-plus-28';
import { checkByRules, type PropRules, required } from '../api/prop-rules';
import { reference, text } from '../api/rules';
import type { Reference } from './reference';
import type { KeygenOptions } from './resource';

const KEYGEN: PropRules<KeygenOptions> = { image: text };

/**
 * Source of the certificate by which the brokers trust each other. No manifest contains it, because everybody who has
 * it can join the Flux instance as a broker.
 */
export abstract class Certificate {
  /** Uses an existing Secret with the certificate under the key `curve.cert`, as `flux keygen` writes it. @throws PropsError for no Secret */
  static fromSecret(secret: Reference<ISecret>): Certificate {
    checkByRules('Certificate.fromSecret', { secret }, { secret: required(reference('Secret')) });
    return new SecretCertificate(secret.name);
  }

  /**
   * Uses the Secret NAME-curve. With `live`, where this is the default, the controller creates it; otherwise you do. The pods
   * start as soon as it exists.
   */
  static ofCluster(): Certificate {
    return new ClusterCertificate();
  }

  /** Adds a Job that creates the Secret NAME-curve, with or without the fluxqueue controller: the default without `live`. @throws PropsError for a wrong option */
  static fromKeygen(options: KeygenOptions = {}): Certificate {
    checkByRules('Certificate.fromKeygen', options, KEYGEN);
    return new KeygenCertificate(options);
  }

  /** Name of the Secret; undefined for NAME-curve. */
  readonly secretName: string | undefined = undefined;
  /** Options of the Job that creates the Secret; undefined without such a Job. */
  readonly keygen: KeygenOptions | undefined = undefined;
}

class SecretCertificate extends Certificate {
  constructor(override readonly secretName: string) {
    super();
  }
}

class ClusterCertificate extends Certificate {}

class KeygenCertificate extends Certificate {
  constructor(override readonly keygen: KeygenOptions) {
    super();
  }
}
