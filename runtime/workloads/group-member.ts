/**
 * What a plain pod says of its group: the name, the settings that all members share, the pod set that it is of, and, once
 * it was released, the grant. Each answer is kept for as long as the watch has this pod.
 */
import { createHash } from 'node:crypto';
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  GATE,
  GROUP,
  GROUP_MEMBER_ANNOTATION,
  GROUP_SIZE,
  USER_ANNOTATION,
} from '../../constructs/api/labels';
import { LWS_REVISION_LABEL, LWS_WORKER_LABEL } from '../../constructs/api/leader-worker-set';
import { GROUP_SYNTAX, MAX_GROUP_SIZE, SETTINGS_OF_GROUPS } from '../../constructs/api/settings';
import { canonical } from '../jobspec/jobspec';
import type { ObjectMeta, Pod } from '../kubernetes/types';
import { isGated, isServicePod } from './pod';
import { settingOf } from './settings';

/** The group and the pod set for which a pod was released. */
export interface Membership {
  /** The uid of the group: the key of its row. */
  readonly uid: string;
  readonly set: string;
}

const NAME = new RegExp(GROUP_SYNTAX[GROUP].pattern);
const SIZE = new RegExp(GROUP_SYNTAX[GROUP_SIZE].pattern);
/** Uids of Kubernetes have no such prefix, so nobody takes a group for one of its pods. */
const UID_PREFIX = 'group-';

/** The name of the group of a pod that admission took in; undefined: the pod is a workload of its own, or of a Job. */
export function groupOf(pod: Pod): string | undefined {
  const { metadata } = pod;
  const { labels, annotations } = metadata;
  const name = settingOf(metadata, GROUP);
  if (name === undefined || labels?.[ADMITTED_LABEL] !== 'true' || !NAME.test(name)) return undefined;
  // It has the settings of the Job that it belongs to.
  if ((annotations?.[ASSIGNMENT_ANNOTATION] ?? '') !== '') return undefined;
  // What was released alone stays a workload of its own, whatever its user writes into it then.
  return isGated(pod) || membershipOf(pod) !== undefined ? name : undefined;
}

/** The group for which the pod was released; undefined while it waits. Only the controller writes it. */
export function membershipOf({ metadata }: Pick<Pod, 'metadata'>): Membership | undefined {
  const text = metadata.annotations?.[GROUP_MEMBER_ANNOTATION];
  const slash = text?.indexOf('/') ?? -1;
  return slash < 0 ? undefined : { uid: text!.slice(0, slash), set: text!.slice(slash + 1) };
}

export function membershipText({ uid, set }: Membership): string {
  return `${uid}/${set}`;
}

/** The uid of a group that has no row yet: that of its first pod makes it, so every leader comes to the same. */
export function newGroupUid(first: Pod): string {
  return `${UID_PREFIX}${digest(first.metadata.uid, 32)}`;
}

export function isGroupUid(uid: string): boolean {
  return uid.startsWith(UID_PREFIX);
}

/** The number of pods that the pod says its group has; undefined: it says none, or an invalid one. */
export function groupSizeOf({ metadata }: Pick<Pod, 'metadata'>): number | undefined {
  const text = settingOf(metadata, GROUP_SIZE);
  const size = text !== undefined && SIZE.test(text) ? Number(text) : undefined;
  return size !== undefined && size <= MAX_GROUP_SIZE ? size : undefined;
}

/** What has to be the same in all members, as their users wrote it. */
export interface SharedTerm {
  /** As a message names it. */
  readonly name: string;
  readonly value: string;
}

const terms = new WeakMap<Pod, readonly SharedTerm[]>();

/** The settings, the priority and the user of a member. */
export function sharedTerms(pod: Pod): readonly SharedTerm[] {
  const known = terms.get(pod) ?? [
    { name: 'user', value: userOf(pod.metadata) },
    ...[GROUP_SIZE, ...SETTINGS_OF_GROUPS].map((name) => ({
      name,
      value: settingOf(pod.metadata, name) ?? '',
    })),
    { name: 'spec.priority', value: `${pod.spec.priority ?? 0}` },
    // The leader of a LeaderWorkerSet is made by its next templates while its workers of those before leave.
    { name: 'revision', value: pod.metadata.labels?.[LWS_REVISION_LABEL] ?? '' },
    // A group is planned with one end, so a service has none of the others beside it.
    { name: 'end', value: isServicePod(pod) ? 'none (restartPolicy: Always)' : 'its walltime' },
  ];
  terms.set(pod, known);
  return known;
}

/** As admission recorded it. */
export function userOf({ annotations }: Pick<ObjectMeta, 'annotations'>): string {
  return annotations?.[USER_ANNOTATION] ?? '';
}

const sets = new WeakMap<Pod, string>();

/**
 * The pod set of a member: pods that ask for the same of a node are of one set, whatever they run. A released pod keeps the
 * set of its release, because its spec names its node since then.
 */
export function podSetNameOf(pod: Pod): string {
  const name = membershipOf(pod)?.set ?? sets.get(pod) ?? `pods-${digest(canonical(askOf(pod)), 8)}`;
  sets.set(pod, name);
  return name;
}

/** A StatefulSet gives each of its pods another value of these. */
const OWN_NAME: ReadonlySet<string> = new Set([
  'statefulset.kubernetes.io/pod-name',
  'apps.kubernetes.io/pod-index',
  LWS_WORKER_LABEL,
]);

/** All of a pod that decides what it needs and where it may be. */
function askOf({ metadata, spec }: Pod) {
  const { containers, initContainers, volumes = [], affinity, topologySpreadConstraints } = spec;
  const { resources, overhead, nodeSelector, tolerations, resourceClaims, runtimeClassName } = spec;
  const { schedulerName, terminationGracePeriodSeconds, schedulingGates = [] } = spec;
  const container = ({ resources: asked, restartPolicy, ports = [] }: Pod['spec']['containers'][number]) => ({
    resources: asked,
    restartPolicy,
    ports: ports
      .filter(({ hostPort }) => hostPort !== undefined)
      .map(({ hostPort, hostIP, protocol }) => [hostPort, hostIP, protocol]),
  });
  const { podAffinity, podAntiAffinity } = affinity ?? {};
  // Rules about pods may be about the pod itself; else no label of it makes it another request.
  const hasRules = (podAffinity ?? podAntiAffinity ?? topologySpreadConstraints) !== undefined;
  return {
    containers: containers.map(container),
    initContainers: initContainers?.map(container),
    // The others, as that of the token of its account, are the same on every node.
    volumes: volumes.flatMap(({ persistentVolumeClaim, ephemeral, iscsi, rbd }) => {
      const volume = { persistentVolumeClaim, ephemeral, iscsi, rbd };
      return Object.values(volume).some((each) => each !== undefined) ? [volume] : [];
    }),
    gates: schedulingGates.filter(({ name }) => name !== GATE),
    ...{ affinity, topologySpreadConstraints, resources, overhead, nodeSelector, tolerations },
    ...{ resourceClaims, runtimeClassName, schedulerName, terminationGracePeriodSeconds },
    labels: hasRules
      ? Object.entries(metadata.labels ?? {}).filter(([key]) => !OWN_NAME.has(key))
      : undefined,
  };
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
