/** Identifies one workload. Its text form `Job/namespace/name` is the key in the work queue. */
export interface WorkloadKey {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export function formatKey({ kind, namespace, name }: WorkloadKey): string {
  return `${kind}/${namespace}/${name}`;
}

export function parseKey(text: string): WorkloadKey {
  const [kind = '', namespace = '', name = ''] = text.split('/');
  return { kind, namespace, name };
}
