/** What every program of the stack begins with: its configuration, and a log that says what of it has no effect. */
import { type Config, loadConfig } from './config';
import { createLogger, type Logger } from './observability/log';

/** @param name of the role, for its log. @param file the YAML file of --config @throws FluxqError of loadConfig */
export function configured(name: string, file: string | undefined): { config: Config; logger: Logger } {
  const warnings: string[] = [];
  const config = loadConfig(file, process.env, (sentence) => warnings.push(sentence));
  const logger = createLogger(name, config.logLevel);
  for (const warning of warnings) logger.warn(warning);
  return { config, logger };
}
