/** Structured logs: one JSON object per line on stderr, because stdout is for results. */
import pino from 'pino';

export type Logger = pino.Logger;
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** @param role a field of every line */
export function createLogger(role: string, level: LogLevel = 'info'): Logger {
  return pino(
    { level, base: { role }, timestamp: pino.stdTimeFunctions.isoTime, messageKey: 'message' },
    pino.destination({ fd: 2, sync: false }),
  );
}
