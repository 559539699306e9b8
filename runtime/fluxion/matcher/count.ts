/** RFC 14 counts. Fluxion takes the largest allowed count that is available. */
export const UNLIMITED = 4294967295;

export interface CountRange {
  readonly min: number;
  readonly max: number;
  readonly operator: '+' | '*' | '^';
  readonly operand: number;
}

/** The largest allowed count up to `available`; 0 when `available` is less than the minimum. */
export function calcCount({ min, max, operator, operand }: CountRange, available: number): number {
  if (min > max || min > available || min === 0) return 0;
  if (min === max) return min;
  const limit = Math.min(available, max);
  if (operator === '+') return limit - ((limit - min) % operand);
  let count = min;
  for (;;) {
    const next = operator === '*' ? count * operand : count ** operand;
    if (next > limit) return count;
    count = next;
  }
}
