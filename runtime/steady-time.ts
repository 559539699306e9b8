/**
 * Time as a term sees it: a clock that never goes back for waiting, and the
 * seconds of the day for planning. The wall clock may jump (a machine's first
 * NTP answer, a suspended laptop, a hand on the clock); plans, patience and
 * reservations must not, so a term counts its own seconds.
 */
import { type Clock, type Random, systemClock } from './clock';

export interface Time {
  readonly clock: Clock;
  /** Unix seconds as the machine has them. */
  readonly wall: () => number;
  /** Spreads what would otherwise come together. */
  readonly random: Random;
}

export const systemTime: Time = { clock: systemClock, wall: () => Date.now() / 1000, random: Math.random };

/** Of the time that has passed, so much goes into catching up with a wall clock that jumped. */
const SLEW = 0.5;

/**
 * Unix seconds that never run backwards and never jump: they start at the wall
 * clock's, go on with the steady clock, and follow the wall clock slowly.
 */
export function steadySeconds({ clock, wall }: Pick<Time, 'clock' | 'wall'>): () => number {
  let seconds = wall();
  let asOf = clock.now();
  return () => {
    const now = clock.now();
    const passed = Math.max(0, now - asOf) / 1000;
    asOf = Math.max(asOf, now);
    const behind = wall() - (seconds + passed);
    seconds += passed + Math.min(Math.max(behind, -SLEW * passed), SLEW * passed);
    return seconds;
  };
}
