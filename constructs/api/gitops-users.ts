/**
 * User names of the usual engines of GitOps at the apiserver. What they apply is many people's work, so it counts for its
 * namespace. `argocd cluster add` gives Argo CD an account in kube-system, where otherwise the controllers of Kubernetes are.
 */
export const GITOPS_USERS: readonly string[] = [
  'system:serviceaccount:flux-system:kustomize-controller',
  'system:serviceaccount:flux-system:helm-controller',
  'system:serviceaccount:argocd:argocd-application-controller',
  'system:serviceaccount:kube-system:argocd-manager',
];
