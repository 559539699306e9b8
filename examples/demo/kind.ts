/** A throw-away kind cluster, where kind and a container engine are there and nothing better is. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { FluxqError } from '../../runtime/errors';

const NAME = 'fluxqueue-demo';
const ENGINES = ['docker', 'podman', 'nerdctl'] as const;

/** Context that kind gives its cluster in the kubeconfig. */
export const KIND_CONTEXT = `kind-${NAME}`;

/** Whether `kind` and a container engine that answers are on the PATH. */
export function kindAvailable(): boolean {
  return answers('kind', ['version']) && ENGINES.some((engine) => answers(engine, ['info']));
}

/** Creates the cluster, runs `work`, and deletes the cluster unless it is to be kept. */
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
    // Not installed, or its daemon does not run: both mean no.
    return false;
  }
}

async function kind(...args: readonly string[]): Promise<void> {
  const [code] = await once(spawn('kind', args, { stdio: ['ignore', 2, 2] }), 'exit');
  if (code === 0) return;
  throw new FluxqError('FLUXQ_DEMO_KIND', `kind ${args[0]} failed`, {
    value: code,
    remedy: 'read what kind said, or start the demo with --simulate',
  });
}
