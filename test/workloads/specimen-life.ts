/** What happens to a specimen: its release, the phases of its pods, and its end. */
import type { KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import type { Patch } from '../../runtime/workloads/adapter';
import { applyJsonPatch, mergePatch, type Operation } from '../fuzz/json-patch';
import { madePods, NODE, NOW, type Specimen, timeOf, watched } from './specimens';

export function applied<T extends object>(object: T, patch: Patch): T {
  const changed =
    patch.type === 'json'
      ? applyJsonPatch(object, patch.body as readonly Operation[])
      : (mergePatch(object, patch.body) as T);
  if (changed === undefined) throw new Error(JSON.stringify([object, patch]));
  return changed!;
}

/** The object of a Pod is its pod. */
export const isPod = ({ adapter }: Specimen) => adapter.kind === 'Pod';

function mapPods(specimen: Specimen, change: (pod: Pod) => Pod): Specimen {
  if (isPod(specimen)) return { ...specimen, object: change(specimen.object as Pod) };
  return { ...specimen, pods: specimen.pods.map(change) };
}

/** The object is released onto its nodes, and its pods are made and get their places. */
export function released(specimen: Specimen, row: WorkloadRow): Specimen {
  const { adapter } = specimen;
  const { object } = watched(specimen, row);
  const isGroup = adapter.membersOf(object) !== undefined;
  const patched = isGroup ? specimen.object : applied(specimen.object!, adapter.releasePatch(object, row));
  const next = { ...specimen, object: patched };
  const made = { ...next, pods: isGroup ? specimen.pods : madePods(next) };
  const seen = watched(made, row);
  const waiting = new Set(
    adapter.podsToPlace(seen.object, seen.pods, row, NOW).map(({ metadata }) => metadata.name),
  );
  return {
    ...made,
    pods: made.pods.map((pod) =>
      waiting.has(pod.metadata.name)
        ? applied(pod, { type: 'json', body: adapter.placePatch(seen.object, row, pod, NODE, NOW) })
        : pod,
    ),
  };
}

export function inPhase(
  specimen: Specimen,
  phase: 'Running' | 'Succeeded' | 'Failed',
  reason?: string,
): Specimen {
  const times = { startedAt: timeOf(NOW + 5), finishedAt: timeOf(NOW + 20) };
  const state =
    phase === 'Running'
      ? { running: times }
      : { terminated: { exitCode: phase === 'Failed' ? 1 : 0, ...times } };
  const containerStatuses = [{ name: 'main', ready: false, restartCount: 0, state }];
  return mapPods(specimen, (pod) => ({
    ...pod,
    spec: { ...pod.spec, nodeName: NODE },
    status: { phase, startTime: timeOf(NOW + 5), containerStatuses, ...(reason && { reason }) },
  }));
}

/** Its controller says that it has ended, as its pods have. */
export function ended(specimen: Specimen, succeeded: boolean): Specimen {
  const { adapter, kind } = specimen;
  const over = inPhase(specimen, succeeded ? 'Succeeded' : 'Failed');
  if (adapter.podsExist) return over;
  const ends = kind?.ends ?? { Succeeded: ['Complete'], Failed: ['Failed'] };
  const type = (succeeded ? ends.Succeeded : ends.Failed)[0]!;
  const conditions = [{ type, status: 'True', lastTransitionTime: timeOf(NOW + 20) }];
  return { ...over, object: { ...over.object!, status: { conditions } } as KubernetesObject };
}
