/**
 * Writes the built files of uPlot into one JSON file that the runtime imports, because it is shipped as one bundle.
 * `npm run generate:simulation` runs it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const BUILT = dirname(require.resolve('uplot'));

function built(file: string): string {
  return readFileSync(join(BUILT, file), 'utf8').trim();
}

if (require.main === module) {
  const files = { style: built('uPlot.min.css'), script: built('uPlot.iife.min.js') };
  writeFileSync(join(__dirname, 'uplot.json'), `${JSON.stringify(files, undefined, 1)}\n`);
}
