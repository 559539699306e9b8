/** The leader: the Lease is held, renewed, and its holder schedules. */
import { CONTROLLER_LEASE } from '../../../constructs/api/labels';
import type { Lease, Pod } from '../../kubernetes/types';
import { FENCE_ANNOTATION } from '../../leader/lease';
import { DURATION_SECONDS, hostOf, isRenewed } from '../../leader/renewal';
import { type Context, duration, error, type Finding, ok, secondsSince, warning } from './finding';

/** Between the clocks of two machines. */
const CLOCK_TOLERANCE_SECONDS = 5;

export async function checkLeader(context: Context): Promise<readonly Finding[]> {
  const { reader, namespace, now } = context;
  const lease = await reader.lease();
  if (lease === undefined)
    return [
      error(
        `namespace ${namespace} has no Lease ${CONTROLLER_LEASE}: no controller has ever led`,
        whyNot(namespace),
      ),
    ];
  const isLed = await somebodyLeads(context);
  if (isLed && !isLive(lease, now))
    return [
      warning(
        `${hostOf(lease)} leads; the clock of this machine and that of the controller differ by ${duration(secondsSince(lease.spec?.renewTime, now))} or more`,
        'set both clocks by NTP: ages in this report are wrong by that much',
      ),
    ];
  const pods = await reader.podsOfTheStack();
  return [leaderFinding(lease, pods, now)];
}

/** Whether somebody holds the Lease and renews it: by the clock of this machine, else by a renewal that it sees. */
export function somebodyLeads(context: Context): Promise<boolean> {
  const { reader, now } = context;
  return reader.once('leader', async () => {
    const lease = await reader.lease();
    if (lease === undefined || !isHeld(lease)) return false;
    return isLive(lease, now) || isRenewed(reader.client, context.namespace, lease);
  });
}

const whyNot = (namespace: string) =>
  `read why in: kubectl -n ${namespace} logs deployment/fluxqueue-controller -c controller`;

/** Whether somebody holds the Lease, by the clock of this machine. */
function isLive(lease: Lease, now: number): boolean {
  if (!isHeld(lease)) return false;
  const { renewTime, leaseDurationSeconds = DURATION_SECONDS } = lease.spec ?? {};
  return secondsSince(renewTime, now) <= leaseDurationSeconds + CLOCK_TOLERANCE_SECONDS;
}

function isHeld({ spec }: Lease): boolean {
  return (spec?.holderIdentity ?? '') !== '';
}

/** @param pods of the stack; none where its controller runs outside the cluster. @internal exported for tests */
export function leaderFinding(lease: Lease, pods: readonly Pod[], now: number): Finding {
  const { metadata, spec = {} } = lease;
  const namespace = metadata.namespace ?? '';
  const age = duration(secondsSince(spec.renewTime, now));
  if (!isHeld(lease))
    return error(`no controller leads since ${age}: no workload is released`, whyNot(namespace));
  const pod = pods.find(({ metadata: { uid } }) => spec.holderIdentity!.includes(uid));
  const holder = pod?.metadata.name ?? hostOf(lease);
  if (!isLive(lease, now))
    return error(
      `no controller leads: ${holder} has not renewed the Lease for ${age}, and no other took it`,
      whyNot(namespace),
    );
  const controllers = pods.filter(
    ({ metadata: { labels } }) => labels?.['app.kubernetes.io/component'] === 'controller',
  );
  if (pod === undefined && controllers.length > 0)
    return warning(
      `${holder} leads, which is no pod of the stack`,
      'stop the controller that runs outside the stack, if nobody means it to run',
    );
  if (pod !== undefined && pod.status?.phase !== 'Running')
    return error(`${holder} holds the Lease, and its pod is ${pod.status?.phase}`, whyNot(namespace));
  if (metadata.annotations?.[FENCE_ANNOTATION] === undefined)
    return warning(
      `${holder} took the Lease ${duration(secondsSince(spec.acquireTime, now))} ago and does not lead yet: the database has given it no number`,
      whyNot(namespace),
    );
  const since = duration(secondsSince(spec.acquireTime, now));
  return ok(`${holder} leads since ${since} and renewed the Lease ${age} ago`);
}
