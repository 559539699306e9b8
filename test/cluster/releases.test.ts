import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPrograms } from './build';
import { downloadReleases, type Release, releasesFor } from './releases';

let folder: string;
let programs: string;
let server: Server;
let answer: (path: string, response: ServerResponse) => void;
const lines: string[] = [];

beforeEach(async () => {
  lines.length = 0;
  folder = mkdtempSync(join(tmpdir(), 'fluxqueue-releases-'));
  programs = join(folder, 'programs');
  mkdirSync(programs);
  server = createServer((request, response) => answer(request.url ?? '', response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

const url = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const serve = (files: Readonly<Record<string, Buffer>>) => {
  answer = (path, response) => {
    const file = files[path];
    response.writeHead(file === undefined ? 404 : 200, { 'content-length': file?.length ?? 0 });
    response.end(file);
  };
};

/** As Kubernetes packs its programs. */
function archive(): Buffer {
  const source = join(folder, 'source', 'kubernetes', 'server', 'bin');
  mkdirSync(source, { recursive: true });
  for (const name of ['kubectl', 'kube-apiserver', 'kubelet'])
    writeFileSync(join(source, name), `#!/bin/sh\necho ${name}\n`, { mode: 0o755 });
  execFileSync('tar', ['-czf', join(folder, 'a.tar.gz'), '-C', join(folder, 'source'), 'kubernetes']);
  return readFileSync(join(folder, 'a.tar.gz'));
}

const members = ['kubernetes/server/bin/kubectl', 'kubernetes/server/bin/kube-apiserver'];

const take = (
  releases: readonly Release[],
  more: { answerMs?: number; mostMs?: number; signal?: AbortSignal } = {},
) =>
  downloadReleases({
    title: 'the control plane',
    releases,
    folder: programs,
    progress: (line) => lines.push(line),
    ...more,
  });

test('unpacks the programs that are asked for, and takes a program that is no archive', async () => {
  const [packed, kwok] = [archive(), Buffer.from('#!/bin/sh\necho kwok\n')];
  serve({ '/k.tar.gz': packed, '/kwok-linux-amd64': kwok });
  const isDone = await take([
    { url: url('/k.tar.gz'), sha256: sha256(packed), members },
    { url: url('/kwok-linux-amd64'), sha256: sha256(kwok), program: 'kwok' },
  ]);
  expect(isDone).toBe(true);
  expect(readdirSync(programs).sort()).toEqual(['kube-apiserver', 'kubectl', 'kwok']);
  expect(execFileSync(join(programs, 'kubectl'), { encoding: 'utf8' })).toBe('kubectl\n');
  expect(statSync(join(programs, 'kwok')).mode & 0o111).toBe(0o111);
});

test('uses nothing of a download with another checksum', async () => {
  const packed = archive();
  serve({ '/k.tar.gz': packed });
  expect(await take([{ url: url('/k.tar.gz'), sha256: '0'.repeat(64), members }])).toBe(false);
  expect(existsSync(join(programs, 'kubectl'))).toBe(false);
  expect(lines.at(-1)).toMatch(
    /^the control plane is built here, because the download failed: .* has the checksum [0-9a-f]{64}, not 0+$/,
  );
});

test('says what the server answered', async () => {
  serve({});
  expect(await take([{ url: url('/gone'), sha256: '', program: 'kwok' }])).toBe(false);
  expect(lines.at(-1)).toContain('/gone answered 404');
});

test('says that nobody listens', async () => {
  const gone = { url: url('/kwok'), sha256: '', program: 'kwok' };
  await new Promise((resolve) => server.close(resolve));
  expect(await take([gone])).toBe(false);
  expect(lines.at(-1)).toMatch(/because the download failed: .*ECONNREFUSED/);
});

test('gives up a server that does not answer', async () => {
  answer = () => undefined;
  expect(await take([{ url: url('/kwok'), sha256: '', program: 'kwok' }], { answerMs: 50 })).toBe(false);
  expect(lines.at(-1)).toContain('/kwok did not answer in time');
});

test('gives up a download that would take longer than it may', async () => {
  answer = (_, response) => {
    response.writeHead(200, { 'content-length': 1_000_000_000 });
    response.write(Buffer.alloc(1_000));
  };
  const began = performance.now();
  const release = { url: url('/kwok'), sha256: '', program: 'kwok' };
  expect(await take([release], { answerMs: 100, mostMs: 60_000 })).toBe(false);
  expect(performance.now() - began).toBeLessThan(30_000);
  expect(lines.at(-1)).toContain('/kwok takes too long');
});

test('gives up a download that breaks off', async () => {
  answer = (_, response) => {
    response.writeHead(200, { 'content-length': 1_000 });
    response.write(Buffer.alloc(10), () => response.destroy());
  };
  expect(await take([{ url: url('/kwok'), sha256: '', program: 'kwok' }])).toBe(false);
  expect(lines.at(-1)).toMatch(/because the download failed/);
});

test('ends when it is told to, and builds nothing then', async () => {
  const end = new AbortController();
  answer = () => end.abort();
  const downloading = take([{ url: url('/kwok'), sha256: '', program: 'kwok' }], { signal: end.signal });
  await expect(downloading).rejects.toThrow(/aborted/);
});

test('a machine without releases downloads nothing', async () => {
  expect(await take(releasesFor('aix', 'ppc64'))).toBe(false);
  expect(lines).toEqual([]);
});

test('programs that were downloaded take the place of a build', async () => {
  const kwok = Buffer.from('#!/bin/sh\n');
  serve({ '/kwok': kwok });
  const result = join(folder, 'cache', 'kwok');
  await buildPrograms({
    title: 'kwok',
    cost: { build: '1 minute', download: '1 MB' },
    binary: 'kwok',
    module: folder,
    folder: result,
    done: () => false,
    programs: ['kwok'],
    progress: (line) => lines.push(line),
    releases: [{ url: url('/kwok'), sha256: sha256(kwok), program: 'kwok' }],
  });
  expect(readdirSync(result)).toEqual(['kwok']);
  expect(lines.at(-1)).toMatch(/^kwok: downloaded in \d+s$/);
  expect(readdirSync(join(folder, 'cache'))).toEqual(['kwok']);
});

test('without a download and without Go there is a remedy', async () => {
  serve({});
  const built = buildPrograms({
    title: 'kwok',
    cost: { build: '1 minute', download: '1 MB' },
    binary: 'kwok',
    module: folder,
    folder: join(folder, 'cache', 'kwok'),
    done: () => false,
    programs: ['kwok'],
    progress: (line) => lines.push(line),
    releases: [{ url: url('/kwok'), sha256: '', program: 'kwok' }],
  });
  await expect(built).rejects.toMatchObject({ code: 'FLUXQ_TEST_GO' });
});

test('the releases are those of the versions that are built', () => {
  const module = readFileSync(join(__dirname, 'controlplane', 'go.mod'), 'utf8');
  const version = (name: string) => new RegExp(`${name} v(\\S+)`).exec(module)?.[1];
  const urls = releasesFor('linux', 'x64').map((release) => release.url);
  expect(urls.filter((each) => each.includes(`/v${version('k8s.io/kubernetes')}/`))).toHaveLength(1);
  expect(urls.filter((each) => each.includes(`/v${version('sigs.k8s.io/kwok')}/`))).toHaveLength(1);
});

test('each release has a checksum, and together they have all programs', () => {
  const releases = releasesFor('linux', 'x64');
  expect(releases.every((release) => /^[0-9a-f]{64}$/.test(release.sha256))).toBe(true);
  const names = releases.flatMap(({ members: all = [], program }) => [
    ...all.map((member) => member.split('/').at(-1)),
    ...(program === undefined ? [] : [program]),
  ]);
  expect(names.sort()).toEqual(
    ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl', 'kwok'].sort(),
  );
});
