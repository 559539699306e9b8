import { parse } from 'yaml';
import { parseConfig } from '../../../runtime/config';
import type { Cluster, KubeObject } from '../../cluster/cluster';
import { configurationFile } from '../manifests';

/** The configuration of the stack, changed for a process on this machine. */
export async function webhookConfig(cluster: Cluster, objects: KubeObject[]) {
  const settings = parse(configurationFile(objects) ?? '') as { webhook: object };
  const kubeconfig = await cluster.kubeconfigForServiceAccount('fluxqueue-webhook', 'fluxqueue-system');
  const here = { host: '127.0.0.1', port: 0 };
  return parseConfig({
    ...settings,
    kubernetes: { kubeconfig },
    http: here,
    metrics: here,
    webhook: { ...settings.webhook, ...here, drainSeconds: 0 },
  });
}
