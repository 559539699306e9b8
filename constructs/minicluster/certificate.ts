import type { ISecret } from 'cdk8s-plus-28';
import type { Reference } from './reference';
import type { KeygenOptions } from './resource';

/** Where the brokers' certificate comes from. It is in no manifest: whoever has it is a broker of the cluster. */
export abstract class Certificate {
  /** A Secret that exists, with the certificate under the key `curve.cert`, as `flux keygen` writes it. */
  static fromSecret(secret: Reference<ISecret>): Certificate {
    return new FromSecret(secret.name);
  }

  /** The Secret NAME-curve: the runtime makes it for resources, for manifests you do. Pods wait until it is there. */
  static ofCluster(): Certificate {
    return new OfCluster();
  }

  /** A one-shot Job makes the Secret NAME-curve in the cluster, which then needs no runtime. */
  static fromKeygen(options: KeygenOptions = {}): Certificate {
    return new FromKeygen(options);
  }

  /** Name of the Secret, if it is not NAME-curve. */
  readonly secretName: string | undefined = undefined;
  /** How a Job makes it, if one does. */
  readonly keygen: KeygenOptions | undefined = undefined;
}

class FromSecret extends Certificate {
  constructor(override readonly secretName: string) {
    super();
  }
}

class OfCluster extends Certificate {}

class FromKeygen extends Certificate {
  constructor(override readonly keygen: KeygenOptions) {
    super();
  }
}
