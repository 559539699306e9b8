/** How Jobs and Pods are taken in; equal in effect. */
export type AdmissionForm = 'policies' | 'webhook';

/** For a runtime that is started by hand outside the cluster: the demo, the tests, a debugger. */
export interface ExternalRuntime {
  /** Where the webhook role answers, e.g. `https://127.0.0.1:9443`. @default - needed with admission `webhook` only */
  readonly webhookUrl?: string;

  /** PEM of the CA of its certificate. @default - the webhook role writes it into its configuration */
  readonly webhookCa?: string;

  /** User names it has at the apiserver: they may release, pin and ungate. @default - the controller's ServiceAccount */
  readonly users?: readonly string[];
}
