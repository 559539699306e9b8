/**
 * The work of reading a pod spec, counted before it is done: what one workload may cost does not depend on the speed of the
 * machine, and whoever reads the same object beside the same nodes comes to the same answer.
 */
import { MAX_JOBSPEC_BYTES, POD_LIMIT_CODE } from '../../constructs/api/pod-limits';
import { FluxqError } from '../errors';
import type { ClusterFacts } from './constraints';
import type { Container, PodSpec, Volume } from './pod';
import type { StorageFacts } from './volumes';

/** One step takes about 20 ns: 1,000,000 of them some 20 ms. */
const MOST_STEPS = 1_000_000;
/** Exact arithmetic with a quantity. */
const QUANTITY_STEPS = 200;
/** To compare a claim with a volume that may be free. */
const VOLUME_STEPS = 100;
/** The shortest that a jobspec says about one node label. */
const SHORTEST_PROPERTY_BYTES = 16;

export interface IntakeFacts {
  readonly cluster: ClusterFacts;
  readonly storage: StorageFacts;
  readonly namespace: string;
}

/**
 * @param field path of the pod spec in the user's object
 * @throws FluxqError `FLUXQ_TOO_LARGE` if reading the pod spec would take longer than one workload may
 */
export function checkIntakeBudget(pod: PodSpec, field: string, facts: IntakeFacts): void {
  const { initContainers = [], containers = [], tolerations = [], volumes = [] } = pod;
  const costs: Readonly<Record<string, number>> = {
    initContainers: quantitySteps(initContainers),
    containers: quantitySteps(containers),
    // The apiserver compares each with each other one in every update of a pod: 10,000 take it half a minute.
    tolerations: tolerations.length ** 2,
    volumes: volumeSteps(volumes, facts),
  };
  let steps = 0;
  for (const [list, cost] of Object.entries(costs)) {
    steps += cost;
    if (steps > MOST_STEPS)
      throw tooCostly(`${field}.${list}`, 'takes too long to read', 'use a shorter list');
  }
  const labels = Object.keys(pod.nodeSelector ?? {}).length;
  if (labels * SHORTEST_PROPERTY_BYTES > MAX_JOBSPEC_BYTES)
    throw tooCostly(`${field}.nodeSelector`, 'has too many labels', 'choose nodes by fewer labels', labels);
}

function tooCostly(field: string, problem: string, remedy: string, value?: number): FluxqError {
  return new FluxqError(POD_LIMIT_CODE, problem, {
    field,
    remedy,
    ...(value === undefined ? {} : { value }),
  });
}

/** A container costs at least what it takes to look at it. */
function quantitySteps(containers: readonly Container[]): number {
  let quantities = 0;
  for (const { resources } of containers)
    quantities += 1 + sizeOf(resources?.requests) + sizeOf(resources?.limits);
  return quantities * QUANTITY_STEPS;
}

function sizeOf(record: object | undefined | null): number {
  return record == null ? 0 : Object.keys(record).length;
}

/** Each claim that is not bound yet may be compared with every volume of its class. */
function volumeSteps(volumes: readonly Volume[], { storage, namespace }: IntakeFacts): number {
  const classes = new Map<string, number>();
  const volumesOf = (name: string) => {
    const count = classes.get(name) ?? storage.volumesOfClass(name).length;
    classes.set(name, count);
    return count;
  };
  let steps = 0;
  for (const { ephemeral, persistentVolumeClaim } of volumes) {
    if (ephemeral === undefined && persistentVolumeClaim === undefined) continue;
    const claim = storage.claim(namespace, persistentVolumeClaim?.claimName ?? '');
    const { storageClassName = '' } = claim?.spec ?? ephemeral?.volumeClaimTemplate?.spec ?? {};
    steps += (1 + volumesOf(storageClassName)) * VOLUME_STEPS;
  }
  return steps;
}
