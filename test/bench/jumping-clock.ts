import type { BaselineClock } from './baseline-run';

/** A clock on which waiting takes no time of the machine. @param worked seconds that count beside those that are waited for */
export function jumpingClock(worked: () => number = () => 0): BaselineClock {
  let waited = 0;
  const now = () => waited + worked();
  return {
    now,
    until: async (seconds) => {
      waited += Math.max(0, seconds - now());
    },
  };
}
