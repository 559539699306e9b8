import type { ContainerSpec } from './resource';
import type { DefaultedSpec } from './schema';

/** Brokers only, for who comes later. */
export function isInteractive(spec: DefaultedSpec, runner: ContainerSpec): boolean {
  return spec.interactive === true || (!hasText(runner.command) && !hasText(runner.commands?.script));
}

export function hasText(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== '';
}
