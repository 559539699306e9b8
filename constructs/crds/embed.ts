/**
 * Writes the CRDs of this folder into one JSON file that programs import, so that users of the constructs need no YAML
 * parser. `npm run generate:imports` runs it.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** The CRDs by the name of their file. */
function crds(): Record<string, unknown> {
  const files = readdirSync(__dirname).filter((name) => name.endsWith('.yaml'));
  return Object.fromEntries(
    files.sort().map((name) => [name, parse(readFileSync(join(__dirname, name), 'utf8'))]),
  );
}

if (require.main === module) {
  const file = join(__dirname, '../../imports/crds.json');
  writeFileSync(file, `${JSON.stringify(crds())}\n`);
}
