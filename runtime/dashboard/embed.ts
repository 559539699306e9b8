/**
 * Writes the page of the dashboard into one JSON file that the runtime imports, because it is shipped as one bundle, and so that no
 * browser loads anything from elsewhere. `npm run generate:dashboard` runs it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

const BROWSER = join(__dirname, 'browser');

function built(file: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [join(BROWSER, file)],
    bundle: true,
    minify: true,
    write: false,
    target: 'es2022',
    legalComments: 'inline',
    tsconfig: join(BROWSER, 'tsconfig.json'),
  });
  return outputFiles[0]!.text;
}

if (require.main === module) {
  const page = {
    html: readFileSync(join(BROWSER, 'page.html'), 'utf8'),
    style: built('page.css'),
    script: built('main.ts'),
  };
  writeFileSync(join(__dirname, 'page.json'), `${JSON.stringify(page, undefined, 1)}\n`);
}
