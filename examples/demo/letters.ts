/** One letter for each workload that holds nodes, for as long as it does, so that the node map can name it. */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** For workloads beyond the number of letters. */
export const MANY = '#';

const COLOURS = [31, 32, 33, 34, 35, 36, 91, 92, 93, 94, 95, 96] as const;

/** The ANSI colour of a letter; neighbours in the alphabet have different ones. */
export function colourOf(letter: string): number | undefined {
  const index = LETTERS.indexOf(letter);
  return index < 0 ? undefined : COLOURS[index % COLOURS.length];
}

export class Letters {
  private byUid = new Map<string, string>();
  private next = 0;

  /** @param uids of all workloads that need a letter; those of others become free again */
  assign(uids: readonly string[]): ReadonlyMap<string, string> {
    const kept = new Map(uids.flatMap((uid) => entry(uid, this.byUid.get(uid))));
    const used = new Set(kept.values());
    for (const uid of uids) {
      if (kept.has(uid)) continue;
      const letter = this.freeLetter(used);
      if (letter === undefined) break;
      used.add(letter);
      kept.set(uid, letter);
    }
    this.byUid = kept;
    return new Map(uids.map((uid) => [uid, kept.get(uid) ?? MANY]));
  }

  /** Goes round, so that a letter does not mean another workload a moment later. */
  private freeLetter(used: ReadonlySet<string>): string | undefined {
    for (let tries = 0; tries < LETTERS.length; tries++) {
      const letter = LETTERS[this.next++ % LETTERS.length]!;
      if (!used.has(letter)) return letter;
    }
    return undefined;
  }
}

function entry(uid: string, letter: string | undefined): [string, string][] {
  return letter === undefined ? [] : [[uid, letter]];
}
