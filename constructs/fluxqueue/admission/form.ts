/** Form of admission of Jobs and Pods. Both forms have the same effect. */
export type AdmissionForm = 'policies' | 'webhook';

/** The form that a stack has; `both` while a live stack changes from one to the other. */
export type AdmissionChoice = AdmissionForm | 'both';

export function hasForm(choice: AdmissionChoice, form: AdmissionForm): boolean {
  return choice === form || choice === 'both';
}

/** A runtime that is started outside the cluster, for the demo, tests and debugging. */
export interface ExternalRuntime {
  /** URL of the webhook role, e.g. `https://127.0.0.1:9443`. @default - required with admission `webhook` only */
  readonly webhookUrl?: string;

  /** CA of the webhook's certificate in PEM. @default - the webhook role writes it to the webhook configuration */
  readonly webhookCa?: string;

  /** Where the reader role serves the read API. @default - the stack has no read API */
  readonly reader?: ExternalReader;

  /** User names of the runtime at the apiserver; they can release, pin and ungate. @default - the controller's ServiceAccount */
  readonly users?: readonly string[];
}

export interface ExternalReader {
  /** Name by which the apiserver reaches the reader's host, e.g. `localhost`. */
  readonly host: string;

  /** Port of the reader. */
  readonly port: number;
}
