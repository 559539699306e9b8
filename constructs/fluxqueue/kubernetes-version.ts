import { PropsError } from '../api/errors';
import { FIRST_WITH_POLICIES, OLDEST_KUBERNETES } from '../api/kubernetes-versions';

/** A Kubernetes release, for the choices of the stack that depend on it. */
export class KubernetesVersion {
  /**
   * @param text `1.37`, `v1.37.1`, or with the suffix of a vendor, e.g. `v1.36.1-eks-abc`, `1.36.2-gke.100`, `v1.36.0+k3s1`
   * @throws PropsError for any other text, for a pre-release and for a version that is too old
   */
  static parse(text: string): KubernetesVersion {
    const match = /^v?1\.(\d+)(?:\.(\d+))?((?:[-+][-+.0-9A-Za-z]*)?)$/.exec(text);
    if (match === null || /^-(alpha|beta|rc)\b/.test(match[3] ?? '')) {
      throw new PropsError(
        'FluxQueue.kubernetesVersion',
        match === null ? 'is not a Kubernetes version' : 'is a pre-release',
        text,
        'give the released version of the apiserver, for example 1.37.1',
      );
    }
    const version = new KubernetesVersion(Number(match[1]), Number(match[2] ?? 0));
    if (version.minor >= OLDEST_KUBERNETES) return version;
    throw new PropsError(
      'FluxQueue.kubernetesVersion',
      `is older than 1.${OLDEST_KUBERNETES}, the first version with ValidatingAdmissionPolicy in v1`,
      text,
      `upgrade the cluster to 1.${OLDEST_KUBERNETES} or newer`,
    );
  }

  private constructor(
    readonly minor: number,
    readonly patch: number,
  ) {}

  get hasMutatingPolicies(): boolean {
    return this.minor >= FIRST_WITH_POLICIES;
  }

  toString(): string {
    return `1.${this.minor}.${this.patch}`;
  }
}
