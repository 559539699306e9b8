import { PropsError } from '../api/errors';

/** First minor version that serves MutatingAdmissionPolicy in v1. */
const FIRST_WITH_POLICIES = 36;

/** A Kubernetes release, for the choices of the stack that depend on it. */
export class KubernetesVersion {
  /**
   * @param text `1.37` or `1.37.1`
   * @throws PropsError for any other text
   */
  static parse(text: string): KubernetesVersion {
    const match = /^v?1\.(\d+)(?:\.(\d+))?$/.exec(text);
    if (match === null) {
      throw new PropsError(
        'FluxQueue.kubernetesVersion',
        'is not a Kubernetes version',
        text,
        'give the version of the apiserver, for example 1.37.1',
      );
    }
    return new KubernetesVersion(Number(match[1]), Number(match[2] ?? 0));
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
