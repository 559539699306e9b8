import { Construct } from 'constructs';
import { AdmissionPolicies } from './admission/policies';
import type { PartProps } from './part';
import type { AdmissionForm, ExternalRuntime } from './props';

export interface AdmissionProps extends PartProps {
  readonly form: AdmissionForm;
  readonly clusterWide: boolean;
  readonly excludedNamespaces?: readonly string[];
  /** @default - pods keep the scheduler they ask for */
  readonly schedulerName?: string;
  readonly externalRuntime?: ExternalRuntime;
}

/** How workloads come in: the form that was chosen, and the guards that both forms need. */
export class Admission extends Construct {
  constructor(scope: Construct, id: string, props: AdmissionProps) {
    super(scope, id);
    const { namespace: stackNamespace, clusterWide, excludedNamespaces, schedulerName } = props;
    new AdmissionPolicies(this, 'policies', {
      stackNamespace,
      clusterWide,
      ...(excludedNamespaces === undefined ? {} : { excludedNamespaces }),
      ...(schedulerName === undefined ? {} : { schedulerName }),
    });
  }
}
