import type { ContainerSpec } from './resource';
import type { DefaultedSpec } from './schema';

/** Whether the brokers stay up until someone ends them, so that people or programs can submit jobs later. */
export function isInteractive(spec: DefaultedSpec, brokerContainer: ContainerSpec): boolean {
  return spec.interactive === true || !hasCommand(brokerContainer);
}

export function hasCommand({ command, commands }: ContainerSpec): boolean {
  return hasText(command) || hasText(commands?.script);
}

export function hasText(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== '';
}
