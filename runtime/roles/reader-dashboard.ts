/** The dashboard of the reader role: what its page asks for is what the read API answers. */
import { SharedDashboard, type SharedDashboardOptions } from '../dashboard/shared-dashboard';
import type { History, Usage } from '../reader/kinds';
import type { Reader, ReadRequest, ReadResource } from '../reader/resource';

export interface ReaderDashboardOptions extends Omit<SharedDashboardOptions<Reader>, 'answers'> {
  readonly resources: readonly ReadResource[];
  /** Milliseconds until an answer is given up. */
  readonly deadline: number;
}

export function readerDashboard({ resources, deadline, ...options }: ReaderDashboardOptions) {
  const ask = async <T>(name: string, request: Omit<ReadRequest, 'signal'>): Promise<T> => {
    const resource = resources.find((one) => one.name === name);
    if (resource === undefined) throw new Error(`the read API has no ${name}`);
    return (await resource.answer({ ...request, signal: AbortSignal.timeout(deadline) })) as T;
  };
  return new SharedDashboard<Reader>({
    ...options,
    answers: {
      history: (namespace, name, reader) =>
        ask<History>('histories', { reader, namespace, name, query: new URLSearchParams() }),
      usage: (namespace, query, reader) =>
        ask<Usage>('usages', { reader, query, ...(namespace !== undefined && { namespace }) }),
    },
  });
}
