/** Measures the calls of an object without the knowledge of either side. */

/** @param result what the call resolved to; undefined if it failed */
export type OnCall = (
  method: string,
  seconds: number,
  result: { readonly value: unknown } | undefined,
) => void;

/** @returns the same object, whose methods that return a Promise are reported to `onCall` once it is settled */
export function measured<T extends object>(target: T, onCall: OnCall): T {
  const wrapped = new Map<PropertyKey, unknown>();
  return new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (!wrapped.has(name)) wrapped.set(name, measuredMethod(target, String(name), onCall));
      return wrapped.get(name);
    },
  });
}

type Method = (...args: unknown[]) => unknown;

function measuredMethod(target: object, name: string, onCall: OnCall): Method {
  return (...args) => {
    const started = performance.now();
    const seconds = () => (performance.now() - started) / 1000;
    const answer = (Reflect.get(target, name, target) as Method).apply(target, args);
    if (answer instanceof Promise) {
      answer.then(
        (value: unknown) => onCall(name, seconds(), { value }),
        () => onCall(name, seconds(), undefined),
      );
    }
    return answer;
  };
}
