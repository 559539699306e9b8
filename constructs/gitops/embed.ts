/** Writes health/flux-cd.yaml as JSON that programs import without a YAML parser. `npm run generate:imports` runs it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

if (require.main === module) {
  const checks: unknown = parse(readFileSync(join(__dirname, 'health', 'flux-cd.yaml'), 'utf8'));
  const file = join(__dirname, '../../imports/flux-cd-health.json');
  writeFileSync(file, `${JSON.stringify(checks, undefined, 1)}\n`);
}
