/** Ends what global-setup.ts has started. */
import type {} from './global-setup';

export default async function globalTeardown(): Promise<void> {
  for (const teardown of globalThis.fluxqueueTeardowns.reverse()) await teardown();
}
