/** Whether this machine can run real pods. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { controlPlaneAvailable, controlPlaneBuilt, goCommand, isExecutable } from '../cluster/assets';
import { fluxProblem } from './flux';
import { imagesBuilt } from './images';
import { nodeProgramsBuilt } from './programs';

/** Maps each program to its Debian package. */
const PROGRAMS = {
  containerd: 'containerd',
  ctr: 'containerd',
  runc: 'runc',
  iptables: 'iptables',
  ip: 'iproute2',
  nsenter: 'util-linux',
  unshare: 'util-linux',
};
const BUILDERS = { buildah: 'buildah', mmdebstrap: 'mmdebstrap' };
const CNI = '/usr/lib/cni/bridge';

/** If not, why, in one sentence that says what to install. */
export function realPodsAvailable(): { available: true } | { available: false; reason: string } {
  const no = (reason: string) => ({ available: false, reason }) as const;
  if (process.platform !== 'linux') return no('real nodes need Linux');
  if (process.getuid?.() !== 0) return no('real nodes need root');
  if (!existsSync('/sys/fs/cgroup')) return no('real nodes need cgroups');
  const controlPlane = controlPlaneAvailable();
  if (!controlPlane.available) return controlPlane;
  const flux = fluxProblem();
  if (flux !== undefined) return no(flux);
  if (!nodeProgramsBuilt() && goCommand() === undefined) return no('Go is not installed to build a kubelet');
  const needed = { ...PROGRAMS, ...(imagesBuilt() ? {} : BUILDERS) };
  const missing = Object.entries(needed).filter(([program]) => !isInPath(program));
  const packages = new Set(missing.map(([, name]) => name));
  if (!existsSync(CNI)) packages.add('containernetworking-plugins');
  if (packages.size === 0) return { available: true };
  return no(`missing: apt-get install ${[...packages].join(' ')}`);
}

/** Whether a run starts at once: nothing is to be built. */
export const realPodsBuilt = (): boolean => controlPlaneBuilt() && nodeProgramsBuilt() && imagesBuilt();

function isInPath(program: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) => isExecutable(join(folder, program)));
}
