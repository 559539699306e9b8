/** Times and amounts as people read them. */

const SIZES = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const;

/** @param milliseconds of at least 0 */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  for (const [size, unit] of SIZES) {
    if (seconds < size) continue;
    const whole = Math.floor(seconds / size);
    const rest = seconds % size;
    const [smaller, name] = SIZES[SIZES.findIndex(([other]) => other === size) + 1] ?? [1, 's'];
    const parts = Math.floor(rest / smaller);
    return whole < 10 && parts > 0 ? `${whole} ${unit} ${parts} ${name}` : `${whole} ${unit}`;
  }
  return `${seconds} s`;
}

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** The time of day, with the date if it is another day. */
export function clockTime(time: string | number, now: number): string {
  const date = new Date(time);
  return date.toDateString() === new Date(now).toDateString() ? CLOCK.format(date) : DATE.format(date);
}

export const count = (amount: number, one: string, many = `${one}s`): string =>
  `${amount} ${amount === 1 ? one : many}`;

/** One of twelve colours, the same for the same job in each browser. */
export function colourOf(key: string): number {
  let hash = 0;
  for (const character of key) hash = (hash * 31 + character.codePointAt(0)!) >>> 0;
  return hash % 12;
}

const TENTHS = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Hours of a unit, to a tenth. */
export const hours = (amount = 0): string => TENTHS.format(amount);

const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

/** @param part of one */
export const percent = (part: number): string => PERCENT.format(part);
