/** The exit code of a program that was interrupted. */
export const INTERRUPTED = 130;

/** Aborted by the first Ctrl-C or SIGTERM, to stop in order; the second one ends the process at once. */
export function interruptSignal(): AbortSignal {
  const interrupt = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => {
      process.stderr.write('\nstopping\n');
      interrupt.abort();
      process.once(name, () => process.exit(INTERRUPTED));
    });
  return interrupt.signal;
}
