/** The official releases of the programs of the control plane, with their checksums. Versions are those of controlplane/go.mod. */
import type { Program } from './assets';

/** One file of a release. */
export interface Release {
  readonly program: Program;
  readonly url: string;
  readonly algorithm: 'sha256' | 'sha512';
  readonly checksum: string;
  /** The program in it, if it is an archive. @default - the file is the program */
  readonly member?: string;
}

export const VERSIONS = { kubernetes: 'v1.37.1', etcd: 'v3.7.0', kwok: 'v0.8.0' } as const;
/** The archive of kubernetes-sigs/controller-tools that has this etcd. Its checksum is in that repository; etcd has its own only beside its files. */
const ENVTEST = 'v1.37.0';

type Architecture = 'amd64' | 'arm64';
type Kubernetes = 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kubectl';

/**
 * Of Kubernetes as in kOps (pkg/assets/assetdata/k8s-1.37.yaml), of the archive as in envtest-releases.yaml of controller-tools, of kwok as
 * its package in the AUR has them.
 */
const CHECKSUMS: Readonly<Record<Architecture, Readonly<Record<Kubernetes | 'etcd' | 'kwok', string>>>> = {
  amd64: {
    'kube-apiserver': 'de9b1b43c10143f448408b3aaf15f44fd5248b97a56301417a1fe2f1fc47a691',
    'kube-controller-manager': 'acd67c8f8871d4594f307d2816bf11aa972f47617ee6e1f84b0ce92a091f7290',
    'kube-scheduler': '8d10dfc64de70b1670cc1ce52701eb6a219c0905a95bdde608edc5432f9eca43',
    kubectl: '65691ff77eb6fa44c908b77a1082c9f092c3b9733b5cefabec0d1104890e21a8',
    etcd: '1d1c453633b72c161a5d5a886cde7ac850be1a2ac796a9e1d4ffacacc64868295bdd2d57aa66cd0c158f5ce510f5dfe3fbc61ac21bd3dcfb875bd70658aa663a',
    kwok: 'f5a4385a2ae1b9dd7f8acae18e002a75c0ebba124ae9d7259aa8dadb50711f46',
  },
  arm64: {
    'kube-apiserver': 'c3c240bc4a0fbe3ad311ac3d74ca1d19ac411628130ea825049550fd856020d9',
    'kube-controller-manager': 'b470c3730cd8e49622c656c47ac16ef994e2edf14ba905be2dad05bc34a4e353',
    'kube-scheduler': '1bfe0c213f015abb08131ee8a02353eb0492dfe19a965b54c5ca1145b6d05e10',
    kubectl: 'ff749f4b78d9c4f1ec87307df9b50119ed819e2094aa9810cb9acffc3286c8c7',
    etcd: 'ae6a670502988200b0131c943758cfd3d3a58cf4e6247ef7f0e6a6467f1cd9a333c802e86101f0446b1b92a0e327387224e1e44fe1a4693da0929c6e529cfe9a',
    kwok: '628f7d277860f524a2a775c217adcc58828e7b59ab0933680315784f1b8b0e37',
  },
};

const KUBERNETES = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'] as const;

const ARCHITECTURES: Readonly<Record<string, Architecture>> = { x64: 'amd64', arm64: 'arm64' };

/** @returns those of all programs; undefined if there are none for this machine */
export function releasesFor(platform: string, nodeArchitecture: string): readonly Release[] | undefined {
  const architecture = ARCHITECTURES[nodeArchitecture];
  if (platform !== 'linux' || architecture === undefined) return undefined;
  const checksums = CHECKSUMS[architecture];
  const github = 'https://github.com/kubernetes-sigs';
  return [
    ...KUBERNETES.map((program) => ({
      program,
      url: `https://dl.k8s.io/release/${VERSIONS.kubernetes}/bin/linux/${architecture}/${program}`,
      algorithm: 'sha256' as const,
      checksum: checksums[program],
    })),
    {
      program: 'etcd',
      url: `${github}/controller-tools/releases/download/envtest-${ENVTEST}/envtest-${ENVTEST}-linux-${architecture}.tar.gz`,
      algorithm: 'sha512',
      checksum: checksums.etcd,
      member: 'controller-tools/envtest/etcd',
    },
    {
      program: 'kwok',
      url: `${github}/kwok/releases/download/${VERSIONS.kwok}/kwok-linux-${architecture}`,
      algorithm: 'sha256',
      checksum: checksums.kwok,
    },
  ];
}
