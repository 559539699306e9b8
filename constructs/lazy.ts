/** Values of `Lazy.any(…)` in props: they are known at synth, after the app has made all of its constructs. */
import { Lazy } from 'cdk8s';

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/**
 * Whether a value is lazy or, as a plain object or list, contains a lazy one.
 * @param around the objects that contain it: a program in JavaScript can give one that contains itself
 */
export function hasLazy(value: unknown, around: readonly unknown[] = []): boolean {
  if (value instanceof Lazy) return true;
  if (around.includes(value) || !(Array.isArray(value) || isRecord(value))) return false;
  return Object.values(value).some((member) => hasLazy(member, [...around, value]));
}

/** The value with what its lazy parts produce, without members that are undefined. */
export function produced<T>(value: T): T {
  return copied(value, (lazy) => produced(lazy.produce())) as T;
}

/** The value without members that are undefined: such a member is as absent, and would replace a default. */
export function given<T>(value: T): T {
  return copied(value, (lazy) => lazy) as T;
}

function copied(value: unknown, ofLazy: (lazy: Lazy) => unknown): unknown {
  if (value instanceof Lazy) return ofLazy(value);
  if (Array.isArray(value)) return value.map((item) => copied(item, ofLazy));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => {
      const copy = copied(member, ofLazy);
      return copy === undefined ? [] : [[key, copy]];
    }),
  );
}

/** Applies a function to a value: now if it is known, else at synth. */
export function whenKnown<T, Result>(value: T, use: (value: T) => Result): Result {
  return hasLazy(value) ? (Lazy.any({ produce: () => use(produced(value)) }) as Result) : use(value);
}
