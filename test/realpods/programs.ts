/** The programs of real nodes: kubelet, kube-proxy and CoreDNS, built from two Go modules of this project. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPrograms, type GoModule, programsBuilt } from '../cluster/assets';

const NODE: GoModule<'kubelet' | 'kube-proxy'> = {
  title: 'kubelet and kube-proxy',
  folder: join(__dirname, 'programs', 'node'),
  binary: 'node',
  programs: ['kubelet', 'kube-proxy'],
  cost: { build: '2 minutes', download: '100 MB more' },
};

const DNS: GoModule<'coredns'> = {
  title: 'CoreDNS',
  folder: join(__dirname, 'programs', 'dns'),
  binary: 'coredns',
  programs: ['coredns'],
  cost: { build: '2 minutes', download: '100 MB' },
};

/** The path of each program. */
export interface NodePrograms {
  readonly kubelet: string;
  readonly 'kube-proxy': string;
  readonly coredns: string;
}

/** Builds what is missing; see {@link findPrograms}. */
export async function findNodePrograms(progress: (line: string) => void): Promise<NodePrograms> {
  const node = await findPrograms(NODE, progress);
  return { ...node, ...(await findPrograms(DNS, progress)) };
}

/** Whether all programs are built. */
export const nodeProgramsBuilt = (): boolean => programsBuilt(NODE) && programsBuilt(DNS);

/** Of Kubernetes, as the kubelet's module requires it. */
export function kubernetesVersion(): string {
  const module = readFileSync(join(NODE.folder, 'go.mod'), 'utf8');
  const [, version] = /k8s\.io\/kubernetes v(\S+)/.exec(module) ?? [];
  if (version === undefined) throw new Error(`${NODE.folder}/go.mod does not require k8s.io/kubernetes`);
  return version;
}
