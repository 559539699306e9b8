/** Objects of a stack, as the checks read them. */
import type { Pod } from '../../../runtime/kubernetes/types';

export const NOW = Date.parse('2026-11-23T12:00:00Z');

/** RFC 3339, so many seconds before NOW. */
export const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();

export function metadata(name: string, over: object = {}) {
  return {
    name,
    namespace: 'fluxqueue-system',
    uid: `uid-of-${name}`,
    resourceVersion: '1',
    creationTimestamp: ago(3600),
    ...over,
  };
}

/** A pod of a component, Ready unless the status says otherwise. */
export function stackPod(name: string, component: string, status: Pod['status'] = {}): Pod {
  return {
    metadata: metadata(name, { labels: { 'app.kubernetes.io/component': component } }),
    spec: { containers: [{ name: component }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], ...status },
  };
}
