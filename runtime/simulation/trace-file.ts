/** Reads a trace, plain or gzip, from a file or from another program. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { FluxqError, messageOf } from '../errors';
import { parseSwf, type Trace } from './swf';

/** @throws FluxqError FLUXQ_TRACE_UNREADABLE, FLUXQ_TRACE_INVALID */
export function readTrace(file: string): Trace {
  return parseSwf(
    readable(file, () => textOf(readFileSync(file))),
    file,
  );
}

/**
 * Reads it to its end.
 *
 * @param source name of the stream, for errors
 * @throws FluxqError FLUXQ_TRACE_UNREADABLE, FLUXQ_TRACE_INVALID
 */
export async function readTraceFrom(stream: AsyncIterable<Buffer>, source: string): Promise<Trace> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return parseSwf(
    readable(source, () => textOf(Buffer.concat(chunks))),
    source,
  );
}

function textOf(bytes: Buffer): string {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return (isGzip ? gunzipSync(bytes) : bytes).toString('utf8');
}

function readable(source: string, read: () => string): string {
  try {
    return read();
  } catch (error) {
    throw new FluxqError('FLUXQ_TRACE_UNREADABLE', messageOf(error).split('\n')[0]!, {
      field: source,
      remedy: 'give a readable file, or - for the standard input',
      cause: error,
    });
  }
}
