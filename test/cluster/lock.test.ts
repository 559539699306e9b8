import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFile } from './lock';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fluxqueue-lock-'));
  path = join(folder, 'lock');
});
afterEach(() => rmSync(folder, { recursive: true }));

const never = { done: () => false, waiting: () => {} };

test('names its owner while it is held and is gone afterwards', async () => {
  const lock = await lockFile(path, never);
  expect(readFileSync(path, 'utf8')).toBe(String(process.pid));
  lock?.release();
  expect(existsSync(path)).toBe(false);
});

test('makes the second one wait for a living owner until nothing is left to do', async () => {
  const owner = spawn('sleep', ['60']);
  writeFileSync(path, String(owner.pid));
  const waited: number[] = [];
  const lock = await lockFile(path, { done: () => waited.length > 0, waiting: (pid) => waited.push(pid) });
  owner.kill();
  expect(lock).toBeUndefined();
  expect(waited).toEqual([owner.pid]);
});

test('is taken over from a dead owner', async () => {
  const owner = spawn('true');
  await once(owner, 'exit');
  writeFileSync(path, String(owner.pid));
  const lock = await lockFile(path, never);
  expect(readFileSync(path, 'utf8')).toBe(String(process.pid));
  lock?.release();
});
