/** How a program ends whose output goes to a pipe: its reader may be slow, or go away. */
import { constants } from 'node:os';

const OUTPUTS = [process.stdout, process.stderr];

/**
 * Ends the program once its readers have taken all of its output: a pipe takes 64 KiB at once, and `process.exit` drops the rest.
 *
 * @param code the exit code @default process.exitCode
 */
export async function exitWhenWritten(code?: number): Promise<never> {
  await Promise.all(OUTPUTS.map(written));
  // An argument that is undefined would replace the code that is set.
  process.exit(code ?? process.exitCode);
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

/** `fluxqueue queue | head`: nobody reads the rest. The exit code is that of other programs then. */
export function endWithReader(): void {
  for (const stream of OUTPUTS)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(128 + constants.signals.SIGPIPE);
      // Nothing more can be written there: stderr may still take the reason.
      if (stream !== process.stderr) process.stderr.write(`cannot write the output: ${error.message}\n`);
      process.exit(1);
    });
}
