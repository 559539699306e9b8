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

test('contains the process id of its owner until its release', async () => {
  const lock = await lockFile(path, never);
  expect(readFileSync(path, 'utf8')).toBe(String(process.pid));
  lock?.release();
  expect(existsSync(path)).toBe(false);
});

test('waits for a running owner until the lock is no longer needed', async () => {
  const owner = spawn('sleep', ['60']);
  writeFileSync(path, String(owner.pid));
  const waited: number[] = [];
  const lock = await lockFile(path, { done: () => waited.length > 0, waiting: (pid) => waited.push(pid) });
  owner.kill();
  expect(lock).toBeUndefined();
  expect(waited).toEqual([owner.pid]);
});

test('stops waiting when it is told to', async () => {
  const owner = spawn('sleep', ['60']);
  writeFileSync(path, String(owner.pid));
  const end = new AbortController();
  const lock = lockFile(path, { done: () => false, waiting: () => end.abort(), signal: end.signal });
  await expect(lock).rejects.toThrow(/aborted/);
  owner.kill();
});

test('takes over the lock of a dead owner', async () => {
  const owner = spawn('true');
  await once(owner, 'exit');
  writeFileSync(path, String(owner.pid));
  const lock = await lockFile(path, never);
  expect(readFileSync(path, 'utf8')).toBe(String(process.pid));
  lock?.release();
});
