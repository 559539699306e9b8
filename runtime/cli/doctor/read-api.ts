/** The read API: whether the apiserver reaches its server. */
import { READ_API_SERVICE, READER_SERVICE } from '../../../constructs/api/labels';
import { apiServices } from '../../kubernetes/paths';
import type { KubernetesObject } from '../../kubernetes/types';
import { type Context, duration, error, type Finding, ok, secondsSince } from './finding';

interface ApiService extends KubernetesObject {
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
      readonly lastTransitionTime?: string;
    }[];
  };
}

/** A stack without the read API has nothing to look at. */
export async function checkReadApi({ reader, namespace, now }: Context): Promise<readonly Finding[]> {
  const service = await reader.get<ApiService>(apiServices(READ_API_SERVICE));
  if (service === undefined) return [];
  const available = service.status?.conditions?.find(({ type }) => type === 'Available');
  if (available?.status === 'True') return [ok('the apiserver reaches the server of the read API')];
  const {
    reason = 'the apiserver has not checked it yet',
    message = '',
    lastTransitionTime,
  } = available ?? {};
  const seconds = secondsSince(lastTransitionTime, now);
  const age = seconds === 0 ? '' : ` since ${duration(seconds)}`;
  const about = message === '' ? reason : `${reason}: ${message}`;
  return [
    error(
      `the apiserver does not reach the server of the read API${age} (${about}): questions are not answered, and no namespace of the cluster is deleted completely`,
      remedyOf(namespace, message),
    ),
  ];
}

function remedyOf(namespace: string, message: string): string {
  if (/\b401\b/.test(message))
    return 'the apiserver calls it without a certificate that it knows: set its flags --requestheader-client-ca-file and --proxy-client-cert-file';
  return `see that the pods of ${READER_SERVICE} are Ready: kubectl -n ${namespace} get pods -l app.kubernetes.io/component=reader; without them: kubectl delete apiservice ${READ_API_SERVICE}`;
}
