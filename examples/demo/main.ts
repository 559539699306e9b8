/**
 * `npm start` shows the whole system: a local control plane or an existing cluster, Postgres, the synthesized stack, the
 * roles and the example workloads. Without a control plane it runs the scheduler alone on a simulated clock.
 */
import { messageOf } from '../../runtime/errors';
import { endWithReader, exitWhenWritten } from '../../runtime/exit';
import { controlPlaneAvailable, downloadControlPlane } from '../../test/cluster/assets';
import type { Verdict } from '../../test/stack/verify';
import { runOnContext } from './context';
import { INTERRUPTED, interruptSignal } from './interrupt';
import { KIND_CONTEXT, kindAvailable, withKind } from './kind';
import { runLocally } from './local';
import { type DemoOptions, parseOptions } from './options';
import { Recording } from './recording';
import { Screen } from './screen';
import { simulate, simulateLive } from './simulate';

type DemoResult = Verdict & { readonly seconds: number };

async function run(options: DemoOptions, screen: Screen, signal: AbortSignal): Promise<DemoResult> {
  if (options.context !== undefined) return runOnContext(options.context, options, screen, signal);
  // Where it can be built, that is tried first, too, but with pictures.
  if (!options.simulate && !controlPlaneAvailable().available)
    await downloadControlPlane({ progress: (line) => screen.progress(line), signal });
  const possible = controlPlaneAvailable();
  if (possible.available && !options.simulate) return runLocally(options, screen, signal);
  if (!possible.available && !options.simulate && kindAvailable()) {
    process.stderr.write(`no local control plane (${possible.reason}): using kind\n`);
    return withKind(options.keep, () =>
      runOnContext(KIND_CONTEXT, { ...options, yes: true }, screen, signal),
    );
  }
  if (!possible.available)
    process.stderr.write(
      `No local control plane: ${possible.reason}.\nTo get one, install Go 1.26 (the first start builds it), set KUBEBUILDER_ASSETS, install kind and a container engine, or use --context NAME.\n`,
    );
  return screen.live ? simulateLive(options, screen, signal) : simulate(options, screen);
}

async function main(): Promise<number> {
  const options = parseOptions(process.argv);
  const signal = interruptSignal();
  const recording = options.record === undefined ? undefined : new Recording();
  const out = options.json ? process.stderr : process.stdout;
  const screen = new Screen(out, { ...(options.json ? { live: false } : {}), recording });
  try {
    const result = await run(options, screen, signal);
    if (options.record !== undefined) recording?.save(options.record);
    if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`);
    const good = result.misplaced === 0 && result.lost === 0 && result.doubleGranted === 0;
    return good ? 0 : 1;
  } catch (error) {
    if (signal.aborted) return INTERRUPTED;
    process.stderr.write(`${messageOf(error)}\n`);
    return 1;
  }
}

endWithReader();
main().then(exitWhenWritten);
