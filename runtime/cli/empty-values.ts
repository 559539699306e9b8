/** Refuses empty values: an unset variable of the shell would mean all, or nothing, where its user means one. */
import type { Command } from 'commander';
import { emptyName } from '../kubernetes/paths';

/**
 * @throws FluxqError FLUXQ_EMPTY_NAME for an option or an argument that its user gave as an empty text, blanks included; a default may be
 *   empty
 */
export function requireValues(command: Command): void {
  // A shell completes an empty word, too.
  if (command.name() === '__complete') return;
  for (const option of command.options) {
    const name = option.attributeName();
    if (command.getOptionValueSource(name) === 'cli' && isEmpty(command.getOptionValue(name)))
      throw emptyName(option.long ?? option.flags);
  }
  for (const [index, argument] of command.registeredArguments.entries())
    if ([command.processedArgs[index]].flat().some(isEmpty)) throw emptyName(argument.name());
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === '';
}
