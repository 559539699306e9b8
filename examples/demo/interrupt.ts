/** The exit code of a program that was interrupted. */
export const INTERRUPTED = 130;

/** Aborted by the first Ctrl-C or SIGTERM, to stop in order; the second one ends the process at once. */
export function interruptSignal(): AbortSignal {
  const interrupt = new AbortController();
  const stop = () => {
    if (interrupt.signal.aborted) process.exit(INTERRUPTED);
    process.stderr.write('\nstopping\n');
    interrupt.abort();
  };
  // Not once(): between two listeners, the signal would end the process as it is, and leave its children.
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return interrupt.signal;
}
