import { PropsError } from '../api/errors';
import { type AdmissionChoice, hasForm } from './admission/form';
import type { KubernetesVersion } from './kubernetes-version';

/**
 * The form that is asked for, or the one that the cluster has.
 *
 * @throws PropsError if the cluster is too old for it
 */
export function admissionForm(
  admission: AdmissionChoice | undefined,
  version: KubernetesVersion | undefined,
): AdmissionChoice {
  const servesPolicies = version?.hasMutatingPolicies === true;
  if (admission !== undefined && hasForm(admission, 'policies') && version !== undefined && !servesPolicies) {
    throw new PropsError(
      'FluxQueue.admission',
      `requires Kubernetes 1.36 or newer, this cluster has ${version}`,
      admission,
      'choose webhook, or remove admission',
    );
  }
  return admission ?? (servesPolicies ? 'policies' : 'webhook');
}
