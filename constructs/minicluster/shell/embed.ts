/**
 * The scripts of this folder as one file that programs can import, because the
 * runtime is shipped as a bundle without them. Run by `npm run generate:imports`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Name of each script and its text. */
export function scripts(): Record<string, string> {
  const names = readdirSync(__dirname).filter((name) => name.endsWith('.sh'));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(__dirname, name), 'utf8')]));
}

if (require.main === module) {
  const file = join(__dirname, '../../../imports/minicluster-shell.json');
  writeFileSync(file, `${JSON.stringify(scripts(), undefined, 1)}\n`);
}
