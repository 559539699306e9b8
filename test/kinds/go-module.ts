/** Files of a Go module, by the module cache: manifests that its program needs. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../cluster/api';

/** @param module with its version, as `go install` takes it. @throws Error without Go, or without the module */
export function manifestsOf(module: string, ...files: readonly string[]): KubeObject[] {
  const { stdout } = spawnSync('go', ['mod', 'download', '-json', module], {
    cwd: tmpdir(),
    encoding: 'utf8',
  });
  const { Dir: folder } = JSON.parse(stdout) as { Dir: string };
  return files.flatMap((file) =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8')).flatMap((document) => {
      const object = document.toJS() as KubeObject | null;
      return object === null ? [] : [object];
    }),
  );
}
