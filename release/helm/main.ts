/** `npm run helm -- [FOLDER]`: writes the chart, by default to helm/fluxqueue. The release pushes it to a registry. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chartFiles } from './chart';

function main(folder = join(__dirname, '../../helm/fluxqueue')): void {
  rmSync(folder, { recursive: true, force: true });
  for (const [path, text] of Object.entries(chartFiles())) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  process.stdout.write(`${folder}\n`);
}

if (require.main === module) main(process.argv[2]);
