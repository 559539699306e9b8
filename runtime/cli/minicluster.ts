/** `fluxqueue mc`: what runs inside a MiniCluster, from its status, which needs no right but to read it. */
import { plainLines } from '../columns';
import type { FluxNumbers } from '../miniclusters/reports';
import type { MiniCluster } from '../miniclusters/resource';

/** The lines about one MiniCluster. */
export function miniClusterLines({ metadata, spec, status = {} }: MiniCluster): string[] {
  const { phase = 'Requested', result, flux, conditions = [] } = status;
  const message = conditions.find(({ type }) => type === 'Ready')?.message;
  const first = `${metadata.namespace}/${metadata.name}  ${result ?? phase}${message === undefined ? '' : `: ${plainLines(message)}`}`;
  if (flux === undefined) return [first, whyNothing(spec.flux?.report === true, phase)];
  const { pending, running, done, failed } = flux.jobs;
  const resources = Object.entries(flux.resources) as [string, FluxNumbers['resources']['nodes']][];
  return [
    first,
    `jobs   ${pending} pending, ${running} running, ${done} done (${failed} failed)`,
    ...resources
      .filter(([, { free, allocated, down }]) => free + allocated + down > 0)
      .map(
        ([kind, { free, allocated, down }]) =>
          `${kind.padEnd(6)} ${free} free, ${allocated} allocated, ${down} down`,
      ),
  ];
}

function whyNothing(reports: boolean, phase: string): string {
  if (!reports) return 'it does not report what runs inside; a MiniCluster with spec.flux.report: true does';
  return phase === 'Running'
    ? 'its lead broker has reported nothing in the last minute; its log says why'
    : 'its lead broker does not run';
}

/** The command that lists the single jobs with the rights of its user, who must be allowed to exec into the pods. */
export function jobsCommand({ metadata, spec }: MiniCluster): readonly string[] {
  const workload = spec.workload === 'StatefulSet' ? 'statefulset' : 'job';
  const mount = spec.flux?.container?.mountPath ?? '/mnt/flux';
  const inside = ['sh', `${mount}/flux-connect.sh`, 'flux', 'jobs', '-a'];
  return ['exec', '--namespace', metadata.namespace!, `${workload}/${metadata.name}`, '--', ...inside];
}
