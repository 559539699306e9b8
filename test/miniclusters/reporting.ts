/** A controller that receives reports, and a lead broker that sends them by hand. */
import { request } from 'node:https';
import { REPORT_AUDIENCE } from '../../constructs/api/labels';
import type { ReportContact } from '../../constructs/minicluster';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { ReportReceiver } from '../../runtime/miniclusters/report-receiver';
import { type FluxNumbers, Reports } from '../../runtime/miniclusters/reports';
import { NOW, podAt } from './objects';

const states = (free: number, allocated: number, down: number) => ({ free, allocated, down });
export const NUMBERS: FluxNumbers = {
  jobs: { pending: 3, running: 2, done: 10, failed: 1 },
  resources: { nodes: states(1, 2, 1), cores: states(2, 6, 4), gpus: states(0, 0, 0) },
};

/** The pods of a Job by their names, and of a StatefulSet, whose pods have no annotation with their index. */
const INDEXES: Readonly<Record<string, number | null>> = {
  'hello-0-x': 0,
  'hello-1-x': 1,
  'hello-0': null,
  'hello-1': null,
};
/** Names of pods and their uids by token. */
const TOKENS: Readonly<Record<string, readonly [name: string, uid: string]>> = {
  lead: ['hello-0-x', 'uid of hello-0-x'],
  worker: ['hello-1-x', 'uid of hello-1-x'],
  'first of the set': ['hello-0', 'uid of hello-0'],
  'second of the set': ['hello-1', 'uid of hello-1'],
  old: ['hello-0-x', 'uid of the pod before'],
};

/** The lead broker of science/hello has the token `lead`. */
export class Reporting {
  now = NOW;
  reviews = 0;
  readonly enqueued: string[] = [];
  readonly warnings: object[] = [];
  readonly reports = new Reports(() => this.now);
  readonly receiver: ReportReceiver;

  constructor(port = 0) {
    this.receiver = new ReportReceiver({
      client: { create: (_: string, body: object) => this.review(body) } as unknown as KubernetesClient,
      settings: { host: '127.0.0.1', port, addresses: ['127.0.0.1'], everySeconds: 1 },
      reports: this.reports,
      ownersOf: (key) => (key === 'science/hello' ? { cluster: 'u', workload: 'j' } : undefined),
      podOf: (key) => {
        const name = key.replace('science/', '');
        const index = INDEXES[name];
        if (index === undefined) return undefined;
        const pod = podAt(index ?? 0);
        const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'hello', uid: 'j', controller: true };
        const metadata = { ...pod.metadata, name, uid: `uid of ${name}`, ownerReferences: [owner] };
        return { ...pod, metadata: index === null ? { ...metadata, annotations: {} } : metadata };
      },
      onChange: (key) => this.enqueued.push(key),
      logger: { info: () => undefined, warn: (fields: object) => this.warnings.push(fields) } as never,
      now: () => this.now,
    });
  }

  async contact(): Promise<ReportContact> {
    return (await this.receiver.contactOf('science', 'hello'))!;
  }

  private async review(body: object): Promise<object> {
    this.reviews++;
    const { token, audiences } = (body as { spec: { token: string; audiences: string[] } }).spec;
    expect(audiences).toEqual([REPORT_AUDIENCE]);
    if (token === 'broken') throw new Error('the apiserver is away');
    const found = TOKENS[token.replaceAll('-', ' ')];
    if (found === undefined) return { status: { authenticated: false } };
    const [name, uid] = found;
    const extra = {
      'authentication.kubernetes.io/pod-name': [name],
      'authentication.kubernetes.io/pod-uid': [uid],
    };
    const user = { username: 'system:serviceaccount:science:default', extra };
    return { status: { authenticated: true, audiences, user } };
  }
}

export interface Sent {
  readonly path?: string;
  readonly token?: string;
  readonly body?: string;
  readonly method?: string;
}

/** Resolves to the status of the answer. */
export function send(contact: ReportContact, sent: Sent = {}): Promise<number> {
  const { path = contact.path, token = 'lead', body = JSON.stringify(NUMBERS), method = 'POST' } = sent;
  const [hostname, port] = contact.addresses[0]!.split(':');
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const options = { hostname, port, path, method, headers, ca: contact.ca, servername: contact.host };
    request({ ...options, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!));
    })
      .on('error', reject)
      .end(method === 'GET' ? undefined : body);
  });
}
