/** Values of `Lazy.any(…)` in props: they are known at synth, after the app has made all of its constructs. */
import { Lazy } from 'cdk8s';

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Whether a value is lazy or, as a plain object or list, contains a lazy one. */
export function hasLazy(value: unknown): boolean {
  if (value instanceof Lazy) return true;
  if (Array.isArray(value)) return value.some(hasLazy);
  return isRecord(value) && Object.values(value).some(hasLazy);
}

/** The value with what its lazy parts produce. */
export function produced<T>(value: T): T {
  return plain(value) as T;
}

function plain(value: unknown): unknown {
  if (value instanceof Lazy) return plain(value.produce());
  if (Array.isArray(value)) return value.map(plain);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}

/** Applies a function to a value: now if it is known, else at synth. */
export function whenKnown<T, Result>(value: T, use: (value: T) => Result): Result {
  return hasLazy(value) ? (Lazy.any({ produce: () => use(produced(value)) }) as Result) : use(value);
}
