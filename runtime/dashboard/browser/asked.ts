/** What the page asks its server for: the last answer stays while the next one is on its way. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Answer } from '../messages';

export interface Asked<T> {
  /** @default - there has been no answer yet */
  readonly answer?: T;
  /** Why there is no newer answer. */
  readonly problem?: string;
}

/**
 * Asks at first, each time `version` changes, and when the second result is called.
 * @param address relative to the page
 */
export function useAsked<T>(address: string, version?: string): readonly [Asked<T>, again: () => void] {
  const [asked, setAsked] = useState<Asked<T>>({});
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const left = new AbortController();
    void ask<T>(address, left.signal).then((next) => {
      if (!left.signal.aborted)
        setAsked((before) => ({ ...before, problem: undefined, ...next }) as Asked<T>);
    });
    return () => left.abort();
  }, [address, version, attempt]);
  const again = useCallback(() => setAttempt((before) => before + 1), []);
  return [asked, again];
}

async function ask<T>(address: string, signal: AbortSignal): Promise<Answer<T>> {
  try {
    const response = await fetch(address, { signal });
    if (response.ok) return (await response.json()) as Answer<T>;
    return { problem: `The server of the page answers with status ${response.status}.` };
  } catch {
    // Also when the page is left, and then nobody reads it.
    return { problem: 'The server of the page does not answer.' };
  }
}

/** Calls back every so many milliseconds while the page is visible, and as soon as it is visible again. */
export function useWhileVisible(milliseconds: number, callback: () => void): void {
  useEffect(() => {
    let last = Date.now();
    const call = () => {
      if (document.visibilityState !== 'visible' || Date.now() - last < milliseconds) return;
      last = Date.now();
      callback();
    };
    const timer = setInterval(call, milliseconds / 10);
    document.addEventListener('visibilitychange', call);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', call);
    };
  }, [milliseconds, callback]);
}
