/** Refuses empty values: an unset variable of the shell would mean all, or nothing, where its user means one. */
import type { Command } from 'commander';
import { emptyName } from '../kubernetes/paths';

/** @throws FluxqError FLUXQ_EMPTY_NAME for an option or an argument of the command that is an empty text */
export function requireValues(command: Command): void {
  // A shell completes an empty word, too.
  if (command.name() === '__complete') return;
  for (const option of command.options)
    if (command.getOptionValue(option.attributeName()) === '') throw emptyName(option.long ?? option.flags);
  for (const [index, argument] of command.registeredArguments.entries())
    if ([command.processedArgs[index]].flat().includes('')) throw emptyName(argument.name());
}
