import type { Logger } from '../../runtime/observability/log';

type Level = 'debug' | 'info' | 'warn' | 'error';

export interface Recorded {
  readonly level: Level;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

/** A logger that records its lines and prints nothing. */
export function recordingLogger(): Pick<Logger, Level> & { readonly lines: Recorded[] } {
  const lines: Recorded[] = [];
  const at = (level: Level) =>
    ((fields: Record<string, unknown>, message: string) => {
      lines.push({ level, fields, message });
    }) as Logger[Level];
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
