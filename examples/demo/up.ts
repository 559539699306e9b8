/**
 * `fluxqueue up`: a local cluster to try manifests on, until Ctrl-C. The package has this file with all that it imports as one bundle,
 * which the program loads for this command only.
 */
import { NAMESPACE_LABEL } from '../../constructs/api/labels';
import type { UpOptions } from '../../runtime/cli/up-command';
import { controlPlaneAvailable, findAssets } from '../../test/cluster/assets';
import { postgresAvailable } from '../../test/cluster/postgres';
import { installServer, pinsOfPackage } from '../../test/cluster/postgres-package';
import { INTERRUPTED, interruptSignal } from './interrupt';
import { keep, runLocally, USERS_NAMESPACE, withLocalStack } from './local';
import { Screen } from './screen';

const COMMANDS = [
  `kubectl -n ${USERS_NAMESPACE} create -f job.yaml`,
  `kubectl fluxqueue queue -n ${USERS_NAMESPACE}`,
  `kubectl fluxqueue plan -n ${USERS_NAMESPACE}`,
  `kubectl label namespace NAME ${NAMESPACE_LABEL}=true`,
];

/**
 * Resolves when Ctrl-C has ended it; earlier than that it sets the exit code.
 *
 * @throws FluxqError with a remedy for what this machine lacks
 */
export async function up(options: UpOptions): Promise<void> {
  const signal = interruptSignal();
  const screen = new Screen(process.stdout);
  try {
    await prepare(screen, signal);
    if (options.demo) await showDemo(options, screen, signal);
    else await serve(options, screen, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    process.exitCode = INTERRUPTED;
  }
}

/** What is missing is said, or installed, before minutes are spent on a build. */
async function prepare(screen: Screen, signal: AbortSignal): Promise<void> {
  // Where it is not available, this fails at once, with a remedy.
  if (!controlPlaneAvailable().available) await findAssets({ signal });
  const pins = pinsOfPackage();
  if (postgresAvailable().available || pins === undefined) return;
  await installServer(pins, { progress: (line) => screen.progress(line), signal });
}

async function serve({ nodes }: UpOptions, screen: Screen, signal: AbortSignal): Promise<void> {
  await withLocalStack(nodes, screen, signal, (stack) => {
    screen.print(
      `Jobs in namespace ${USERS_NAMESPACE} wait in the queue, as in each namespace with the label below.`,
    );
    return keep(stack, COMMANDS, screen, signal);
  });
}

async function showDemo({ nodes, jobs }: UpOptions, screen: Screen, signal: AbortSignal): Promise<void> {
  const options = { nodes, jobs, keep: true, json: false, yes: false, simulate: false };
  await runLocally(options, screen, signal);
}
