import type { ContainerSpec } from './resource';
import type { DefaultedSpec } from './schema';

/** Whether the MiniCluster only runs brokers, to which people or programs submit jobs later. */
export function isInteractive(spec: DefaultedSpec, brokerContainer: ContainerSpec): boolean {
  return (
    spec.interactive === true ||
    (!hasText(brokerContainer.command) && !hasText(brokerContainer.commands?.script))
  );
}

export function hasText(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== '';
}
