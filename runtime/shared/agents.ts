/**
 * Agents: the pods of DaemonSets and static pods. They belong to their node and stay when it is drained, so what they
 * request is no capacity of the node at all: a node with agents and nothing else is an empty node.
 */
import { ADMITTED_LABEL } from '../../constructs/api/labels';
import { podRequests, type Requests, sum } from '../jobspec/requests';
import type { Informer } from '../kubernetes/informer';
import { controllerOf } from '../kubernetes/owner';
import type { Pod } from '../kubernetes/types';
import { Signal } from '../signal';
import type { PodFacts } from './pod-facts';
import { requestsEqual } from './pod-requests';

export interface Agents {
  /** The agents of this node changed. */
  readonly changed: Signal<string>;
  /** What the agents of this node request. */
  requestsOn(node: string): Requests;
}

/** Annotation of the mirror that a kubelet makes of a static pod. */
export const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/** A pod that admission has gated is none, whatever its user says of its owner. */
export function isAgent({ metadata }: Pod): boolean {
  if (metadata.labels?.[ADMITTED_LABEL] === 'true') return false;
  const owner = controllerOf({ metadata });
  const isOfDaemonSet = owner?.kind === 'DaemonSet' && owner.apiVersion.startsWith('apps/');
  return isOfDaemonSet || metadata.annotations?.[MIRROR_ANNOTATION] !== undefined;
}

/** @param pods with the index `agents` by node */
export function agentsOf(pods: Informer<Pod>, { usedNode }: Pick<PodFacts, 'usedNode'>): Agents {
  const changed = new Signal<string>();
  const nodeOf = (pod: Pod | undefined) => (pod !== undefined && isAgent(pod) ? usedNode(pod) : undefined);
  pods.changed.subscribe(({ now, before }) => {
    const [to, from] = [nodeOf(now), nodeOf(before)];
    if (to === from && (to === undefined || requestsEqual(now!, before!))) return;
    if (from !== undefined) changed.emit(from);
    if (to !== undefined && to !== from) changed.emit(to);
  });
  return { changed, requestsOn: (node) => agentRequests(pods, node) };
}

/** @param pods with the index `agents` by node */
export function agentRequests(pods: Informer<Pod>, node: string): Requests {
  return sum(pods.byIndex('agents', node).map(({ spec }) => podRequests(spec)));
}
