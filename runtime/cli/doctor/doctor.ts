/** Runs the checks. A right that is missing makes one check unknown; the others go on. */
import { isStatus } from '../../kubernetes/errors';
import { checkForm, checkPolicies } from './admission';
import { checkDatabase, checkFluxion } from './backends';
import { checkDatabaseCertificate, checkWebhookCertificate } from './certificates';
import { checkGrants, checkLeftovers, checkNodes, checkRecords, checkWaiting } from './drift';
import type { Check, Context, Finding } from './finding';
import { checkLeader } from './leader';
import { checkLingering } from './lingering';
import { checkNamespaces } from './namespaces';
import { checkDeployments, checkPods } from './pods';
import { checkFluxSetups } from './queues';
import { checkReadApi } from './read-api';
import { noRight } from './rights';
import { checkCrds, checkImages, checkKubernetes } from './versions';

/** In the order in which one failure causes the next. */
const CHECKS: readonly Check[] = [
  { name: 'kubernetes', run: checkKubernetes },
  { name: 'crds', run: checkCrds },
  { name: 'versions', run: checkImages },
  { name: 'deployments', run: checkDeployments },
  { name: 'pods', run: checkPods },
  { name: 'leader', run: checkLeader },
  { name: 'database', run: checkDatabase },
  { name: 'fluxion', run: checkFluxion },
  { name: 'guards', run: checkPolicies },
  { name: 'admission', run: checkForm },
  { name: 'certificates', run: checkWebhookCertificate },
  { name: 'certificates', run: checkDatabaseCertificate },
  { name: 'read-api', run: checkReadApi },
  { name: 'namespaces', run: checkNamespaces },
  { name: 'queues', run: checkFluxSetups },
  { name: 'nodes', run: checkNodes },
  { name: 'waiting', run: checkWaiting },
  { name: 'records', run: checkRecords },
  { name: 'grants', run: checkGrants },
  { name: 'lingering', run: checkLingering },
  { name: 'leftovers', run: checkLeftovers },
];

export interface ReportedFinding extends Finding {
  /** Name of the check. */
  readonly check: string;
}

/** @throws FluxqError of the client where the apiserver does not answer */
export async function examine(context: Context): Promise<readonly ReportedFinding[]> {
  const found = await Promise.all(CHECKS.map((check) => findingsOf(check, context)));
  return found.flat();
}

async function findingsOf({ name, run }: Check, context: Context): Promise<readonly ReportedFinding[]> {
  try {
    return (await run(context)).map((finding) => ({ check: name, ...finding }));
  } catch (error) {
    if (!isStatus(error, 403)) throw error;
    return [{ check: name, ...noRight(error.message) }];
  }
}
