import type { ISecret } from 'cdk8s-plus-28';
import type { Reference } from './reference';
import type { KeygenOptions } from './resource';

/**
 * Source of the certificate by which the brokers trust each other. No manifest contains it, because everybody who has
 * it can join the Flux instance as a broker.
 */
export abstract class Certificate {
  /** Uses an existing Secret with the certificate under the key `curve.cert`, as `flux keygen` writes it. */
  static fromSecret(secret: Reference<ISecret>): Certificate {
    return new SecretCertificate(secret.name);
  }

  /**
   * Uses the Secret NAME-curve. With `live`, where this is the default, the controller creates it; otherwise you do. The pods
   * start as soon as it exists.
   */
  static ofCluster(): Certificate {
    return new ClusterCertificate();
  }

  /** Adds a Job that creates the Secret NAME-curve, with or without the fluxqueue controller: the default without `live`. */
  static fromKeygen(options: KeygenOptions = {}): Certificate {
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
