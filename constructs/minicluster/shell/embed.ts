/**
 * Writes the scripts of this folder into one JSON file that programs can import, because the runtime is shipped as a
 * bundle without them. `npm run generate:imports` runs it.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the text of each script by its name. */
export function scripts(): Record<string, string> {
  const names = readdirSync(__dirname).filter((name) => /\.(sh|py)$/.test(name));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(__dirname, name), 'utf8')]));
}

if (require.main === module) {
  const file = join(__dirname, '../../../imports/minicluster-shell.json');
  writeFileSync(file, `${JSON.stringify(scripts(), undefined, 1)}\n`);
}
