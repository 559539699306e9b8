/** A temporary kind cluster, for machines with kind and a container engine but without a local control plane. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { FluxqError } from '../../runtime/errors';

const NAME = 'fluxqueue-demo';
const ENGINES = ['docker', 'podman', 'nerdctl'] as const;

/** The context of the cluster in the kubeconfig. */
export const KIND_CONTEXT = `kind-${NAME}`;

/** Whether `kind` and a working container engine are on the PATH. */
export function kindAvailable(): boolean {
  return answers('kind', ['version']) && ENGINES.some((engine) => answers(engine, ['info']));
}

/** Creates the cluster, runs `work`, and deletes the cluster unless `keep` is set. */
export async function withKind<T>(keep: boolean, work: () => Promise<T>): Promise<T> {
  await kind('create', 'cluster', '--name', NAME, '--wait', '120s');
  try {
    return await work();
  } finally {
    if (!keep) await kind('delete', 'cluster', '--name', NAME);
  }
}

function answers(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore', timeout: 10_000 });
    return true;
  } catch {
    // The program is not installed or its daemon is not running.
    return false;
  }
}

async function kind(...args: readonly string[]): Promise<void> {
  const [code] = await once(spawn('kind', args, { stdio: ['ignore', 2, 2] }), 'exit');
  if (code === 0) return;
  throw new FluxqError('FLUXQ_DEMO_KIND', `kind ${args[0]} failed`, {
    value: code,
    remedy: 'read the output of kind, or start the demo with --simulate',
  });
}
