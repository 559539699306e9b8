/**
 * An error in the props of a construct: thrown while the program runs, before
 * anything is written. Same sentence and fields as the runtime's errors, with
 * a class of its own because constructs/ imports nothing of runtime/.
 */
export class PropsError extends Error {
  readonly code = 'FLUXQ_PROPS_INVALID';

  /**
   * @param field name of the construct and the prop, e.g. `FluxQueue.scheduler`
   * @param what what is wrong with it
   * @param value what was given
   * @param remedy one imperative sentence without the full stop
   */
  constructor(
    readonly field: string,
    what: string,
    readonly value: unknown,
    readonly remedy: string,
  ) {
    super(`FLUXQ_PROPS_INVALID: ${field}: ${what} (got ${JSON.stringify(value)}); ${remedy}`);
    this.name = 'PropsError';
  }
}
