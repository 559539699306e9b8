/** While the control plane is built, which takes minutes, the demo runs on the simulated cluster and says so. */
import type { LiveOptions } from './simulate';

export interface FirstPictureOptions<T> {
  /** The slow work. It tells how far it is, and ends soon after the signal. */
  readonly build: (progress: (line: string) => void, signal: AbortSignal) => Promise<T>;
  /** Shows pictures until the signal. */
  readonly show: (options: Omit<LiveOptions, 'screen'>) => Promise<void>;
  readonly signal: AbortSignal;
}

/** @returns the result of the build. If one of both fails, the other is ended first. */
export async function showWhileBuilding<T>({ build, show, signal }: FirstPictureOptions<T>): Promise<T> {
  let progress = 'building the control plane';
  const end = new AbortController();
  const either = AbortSignal.any([signal, end.signal]);
  const heading = () => [
    'SIMULATION, while the control plane is built: the same jobs, nodes and scheduler, without Kubernetes. The real one follows.',
    progress,
  ];
  const built = build((line) => {
    progress = line;
  }, either);
  const shown = show({ heading, signal: either });
  // The first one to fail, or the end of the build, ends the other.
  const [first] = await Promise.allSettled([Promise.race([built, failureOf(shown)])]);
  end.abort();
  const [result, picture] = await Promise.allSettled([built, shown]);
  if (first?.status === 'rejected') throw first.reason;
  if (picture.status === 'rejected') throw picture.reason;
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

/** Rejects with the promise, and never resolves. */
function failureOf(promise: Promise<void>): Promise<never> {
  return new Promise((_, reject) => promise.catch(reject));
}
