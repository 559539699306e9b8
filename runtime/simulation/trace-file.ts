/** Reads a trace from a file, plain or gzip. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { FluxqError, messageOf } from '../errors';
import { parseSwf, type Trace } from './swf';

/** @throws FluxqError FLUXQ_TRACE_UNREADABLE, FLUXQ_TRACE_INVALID */
export function readTrace(file: string): Trace {
  return parseSwf(textOf(file), file);
}

function textOf(file: string): string {
  try {
    const bytes = readFileSync(file);
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return (isGzip ? gunzipSync(bytes) : bytes).toString('utf8');
  } catch (error) {
    throw new FluxqError('FLUXQ_TRACE_UNREADABLE', messageOf(error).split('\n')[0]!, {
      field: file,
      remedy: 'give a readable file with --swf',
      cause: error,
    });
  }
}
