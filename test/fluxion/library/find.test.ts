import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadLibrary } from '../../../runtime/fluxion/library/bindings';
import { findLibrary } from '../../../runtime/fluxion/library/find';
import { chooseEngine } from '../../../runtime/fluxion/server/engine-choice';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fluxion-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('finds the library by configuration first, then by the environment, as a file or a folder', async () => {
  const path = join(folder, 'libreapi_cli.so');
  await writeFile(path, '');
  expect(findLibrary(path, {})).toBe(path);
  expect(findLibrary(folder, { FLUXION_LIBRARY: '/nowhere' })).toBe(path);
  expect(findLibrary(undefined, { FLUXION_LIBRARY: folder })).toBe(path);
});

test('refuses a configured path that does not exist', () => {
  expect(() => findLibrary(folder, {})).toThrow(
    expect.objectContaining({ code: 'FLUXQ_FLUXION_LIBRARY', value: folder }),
  );
  expect(() => findLibrary(undefined, { FLUXION_LIBRARY: '/nowhere/x.so' })).toThrow(
    expect.objectContaining({ code: 'FLUXQ_FLUXION_LIBRARY', value: '/nowhere/x.so' }),
  );
});

test('refuses a file that is not a library, with a reason', async () => {
  const path = join(folder, 'libreapi_cli.so');
  await writeFile(path, 'text');
  await expect(loadLibrary(path)).rejects.toMatchObject({
    code: 'FLUXQ_FLUXION_LIBRARY',
    message: expect.stringContaining('LD_LIBRARY_PATH'),
  });
  const log = { info() {}, warn() {}, error() {} };
  await expect(chooseEngine({ engine: 'auto', library: path, log })).rejects.toMatchObject({
    code: 'FLUXQ_FLUXION_LIBRARY',
  });
  // The library is not even loaded for a policy that it does not keep.
  const embedded = await chooseEngine({ engine: 'auto', library: path, policy: 'first', log });
  expect(embedded.kind).toBe('embedded');
});

test('refuses a library without the symbols of 0.53 and names the missing symbol', async () => {
  // The C library of this system has none of the symbols.
  const found = process.report.getReport() as { sharedObjects: string[] };
  const libc = found.sharedObjects.find((path) => /\/libc\.so/.test(path))!;
  await expect(loadLibrary(libc)).rejects.toMatchObject({
    code: 'FLUXQ_FLUXION_LIBRARY_TOO_OLD',
    message: expect.stringContaining('reapi_cli_new'),
  });
});
