import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadLibrary } from '../../../runtime/fluxion/library/bindings';
import { findLibrary } from '../../../runtime/fluxion/library/find';
import { serveFluxion } from '../../../runtime/fluxion/server/engine-choice';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fluxion-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('by configuration before the environment, a file or its folder', async () => {
  const path = join(folder, 'libreapi_cli.so');
  await writeFile(path, '');
  expect(findLibrary(path, {})).toBe(path);
  expect(findLibrary(folder, { FLUXION_LIBRARY: '/nowhere' })).toBe(path);
  expect(findLibrary(undefined, { FLUXION_LIBRARY: folder })).toBe(path);
});

test('what is named must be there', () => {
  expect(() => findLibrary(folder, {})).toThrow(
    expect.objectContaining({ code: 'FLUXQ_FLUXION_LIBRARY', value: folder }),
  );
  expect(() => findLibrary(undefined, { FLUXION_LIBRARY: '/nowhere/x.so' })).toThrow(
    expect.objectContaining({ code: 'FLUXQ_FLUXION_LIBRARY', value: '/nowhere/x.so' }),
  );
});

test('a file that is no library is refused with its reason', async () => {
  const path = join(folder, 'libreapi_cli.so');
  await writeFile(path, 'text');
  await expect(loadLibrary(path)).rejects.toMatchObject({
    code: 'FLUXQ_FLUXION_LIBRARY',
    message: expect.stringContaining('LD_LIBRARY_PATH'),
  });
  const log = { info() {}, warn() {}, error() {} };
  await expect(
    serveFluxion({ address: `unix:${folder}/s.sock`, engine: 'auto', library: path, log }),
  ).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_LIBRARY' });
  expect(existsSync(join(folder, 's.sock'))).toBe(false);
});

test('a library without what 0.53 brought is too old, and the symbol is named', async () => {
  // The C library of this system: a library, and without any of the symbols.
  const found = process.report.getReport() as { sharedObjects: string[] };
  const libc = found.sharedObjects.find((path) => /\/libc\.so/.test(path))!;
  await expect(loadLibrary(libc)).rejects.toMatchObject({
    code: 'FLUXQ_FLUXION_LIBRARY_TOO_OLD',
    message: expect.stringContaining('reapi_cli_new'),
  });
});
