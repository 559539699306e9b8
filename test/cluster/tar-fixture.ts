import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A .tar.gz with one file. */
export function packed(path: string, content: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-tar-'));
  try {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
    return execFileSync('tar', ['-czf', '-', '-C', folder, '.', '--transform', 's,^\\./,,']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
