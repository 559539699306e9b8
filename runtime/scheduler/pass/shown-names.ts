/**
 * Names in a sentence that the users of one namespace read in FluxJobs, Events and histories. They may not know what other
 * namespaces have, so that is counted and not named.
 */
interface Named {
  readonly namespace: string;
  readonly name: string;
}
type Reader = Pick<Named, 'namespace'>;

export function shownName({ namespace }: Reader, workload: Named): string {
  return workload.namespace === namespace
    ? `${namespace}/${workload.name}`
    : 'a workload of another namespace';
}

/** The names of its own namespace, and how many there are of others. */
export function shownNames({ namespace }: Reader, workloads: readonly Named[]): readonly string[] {
  const own = workloads.filter((workload) => workload.namespace === namespace);
  const others = workloads.length - own.length;
  return [
    ...own.map(({ name }) => `${namespace}/${name}`),
    ...(others === 0 ? [] : [others === 1 ? '1 of another namespace' : `${others} of other namespaces`]),
  ];
}

/** The queue of a FluxSetup has the name of its namespace before its own. */
export function shownQueue({ namespace }: Reader, queue: string): string {
  return !queue.includes('/') || queue.startsWith(`${namespace}/`)
    ? `queue ${queue}`
    : 'a queue of another namespace';
}
