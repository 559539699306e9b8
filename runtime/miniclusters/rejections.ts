/** Why the spec of a MiniCluster does not take effect, in the words of its status. */
import { formatIssue, type ValidationIssue } from '../../constructs/minicluster/index';
import type { MiniCluster } from './resource';
import type { Rejection } from './status';

export function invalidSpec(problems: readonly ValidationIssue[]): Rejection {
  return { reason: 'Invalid', message: problems.map(formatIssue).join('\n') };
}

/** A finished cluster does not change; an edit after its end is reported. */
export function rejectEditAfterEnd({ metadata, status }: MiniCluster): Rejection | undefined {
  if (status?.phase !== 'Finished') return undefined;
  const reported = status.conditions?.some(
    ({ type, reason }) => type === 'Stalled' && reason === 'AlreadyFinished',
  );
  if (status.observedGeneration === metadata.generation && reported !== true) return undefined;
  const message = 'the MiniCluster has finished; delete and recreate it to run it again';
  return { reason: 'AlreadyFinished', message };
}

export function nameTaken({ metadata: { name } }: MiniCluster): Rejection {
  return {
    reason: 'NameTaken',
    message: `objects named ${name} already exist and have another owner; rename this MiniCluster or delete them`,
  };
}

/** A new version of the renderer can change the template of a running Job. Its user did not ask for that change. */
export function isRendererChange({ metadata, status }: MiniCluster, { reason }: Rejection): boolean {
  if (reason !== 'Immutable' || status?.observedGeneration !== metadata.generation) return false;
  return status?.conditions?.find(({ type }) => type === 'Stalled')?.reason !== 'Immutable';
}
