import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findAssets, isExecutable } from './assets';
import { type DownloadOptions, downloadPrograms } from './download';
import { type Release, releasesFor, VERSIONS } from './releases';
import { packed } from './tar-fixture';

const GOOD = 'a program';
const ARCHIVE = packed('deep/in/etcd', GOOD);

type Answer = (response: ServerResponse) => void;
const ANSWERS: Readonly<Record<string, Answer>> = {
  '/good': (response) => response.end(GOOD),
  '/archive': (response) => response.end(ARCHIVE),
  '/silent': () => undefined,
  '/slow': (response) => response.write('a'),
  '/wrong': (response) => response.end('another program'),
  '/missing': (response) => response.writeHead(404).end(),
  '/cut': (response) => {
    response.writeHead(200, { 'content-length': 1000 });
    response.write(GOOD, () => response.destroy());
  },
};

let server: Server;
let address: string;
const asked: string[] = [];
beforeAll(async () => {
  server = createServer(({ url = '' }, response) => {
    asked.push(url);
    (ANSWERS[url] ?? ANSWERS['/wrong']!)(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'fluxqueue-download-'));
  asked.length = 0;
});
afterEach(() => rmSync(cache, { recursive: true }));

const release = (program: Release['program'], path: string, content: string | Buffer = GOOD): Release => ({
  program,
  url: `${address}${path}`,
  algorithm: 'sha256',
  checksum: createHash('sha256').update(content).digest('hex'),
});

async function download(releases: readonly Release[], more: Partial<DownloadOptions> = {}) {
  const lines: string[] = [];
  const folder = join(cache, 'programs');
  const isTaken = await downloadPrograms({
    releases,
    folder,
    done: () => existsSync(folder),
    progress: (line) => lines.push(line),
    ...more,
  });
  return { isTaken, lines, folder };
}

test('takes programs and archives that have their checksums', async () => {
  const archive = { ...release('etcd', '/archive', ARCHIVE), member: 'deep/in/etcd' };
  const { isTaken, folder } = await download([release('kubectl', '/good'), archive]);
  expect(isTaken).toBe(true);
  expect(readdirSync(cache)).toEqual(['programs']);
  for (const program of ['kubectl', 'etcd']) {
    expect(readFileSync(join(folder, program), 'utf8')).toBe(GOOD);
    expect(isExecutable(join(folder, program))).toBe(true);
  }
});

test.each([
  ['does not answer', '/silent', /\/silent does not answer$/],
  ['is slow', '/slow', /^no official programs: the download takes longer than some seconds$/],
  ['has another checksum', '/wrong', /\/wrong does not have the checksum [0-9a-f]{64}$/],
  ['is not there', '/missing', /\/missing answers 404$/],
  ['is cut off', '/cut', /^no official programs: \S/],
])('uses no program at all if one %s', async (_, path, reason) => {
  const limits = { answer: 300, all: 1000 };
  const { isTaken, lines } = await download([release('kubectl', '/good'), release('kwok', path)], { limits });
  expect([isTaken, lines.at(-1)]).toEqual([false, expect.stringMatching(reason)]);
  expect(readdirSync(cache)).toEqual([]);
});

test('says why there is no connection', async () => {
  const nowhere = { ...release('kubectl', '/good'), url: 'http://127.0.0.1:9/kubectl' };
  const { isTaken, lines } = await download([nowhere]);
  expect([isTaken, lines]).toEqual([false, [expect.stringMatching(/^no official programs: .*failed, .+/)]]);
});

test('one of two processes downloads, and the other uses the same', async () => {
  const both = await Promise.all([1, 2].map(() => download([release('kubectl', '/good')])));
  expect(both.map(({ isTaken }) => isTaken)).toEqual([true, true]);
  expect(asked).toEqual(['/good']);
});

test('Ctrl-C ends it', async () => {
  const stop = new AbortController();
  const ended = download([release('kubectl', '/slow')], {
    progress: () => stop.abort(),
    signal: stop.signal,
  });
  await expect(ended).rejects.toThrow('aborted');
  expect(readdirSync(cache)).toEqual([]);
});

test('the releases are of the versions that are built', () => {
  const modules = readFileSync(join(__dirname, 'controlplane', 'go.mod'), 'utf8');
  expect(modules).toContain(`k8s.io/kubernetes ${VERSIONS.kubernetes}\n`);
  expect(modules).toContain(`go.etcd.io/etcd/server/v3 ${VERSIONS.etcd}\n`);
  expect(modules).toContain(`sigs.k8s.io/kwok ${VERSIONS.kwok}\n`);
  for (const architecture of ['x64', 'arm64']) {
    const releases = releasesFor('linux', architecture)!;
    expect(releases.map(({ program }) => program).sort()).toEqual([
      ...['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl', 'kwok'],
    ]);
    expect(new Set(releases.map(({ checksum }) => checksum)).size).toBe(6);
    for (const { algorithm, checksum } of releases)
      expect(checksum).toMatch(algorithm === 'sha256' ? /^[0-9a-f]{64}$/ : /^[0-9a-f]{128}$/);
  }
  expect(releasesFor('darwin', 'arm64')).toBeUndefined();
});

/** A go command that is done at once. */
const GO = `#!/bin/sh
if [ "$1" = list ]; then echo a; exit; fi
while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
printf built >"$out"
chmod +x "$out"
`;

describe('a machine without a control plane', () => {
  const NAMES = ['KUBEBUILDER_ASSETS', 'XDG_CACHE_HOME', 'PATH', 'FLUXQUEUE_DOWNLOADS'] as const;
  const before = Object.fromEntries(NAMES.map((name) => [name, process.env[name]]));
  beforeEach(() => {
    const bin = join(cache, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'go'), GO);
    chmodSync(join(bin, 'go'), 0o755);
    const PATH = `${bin}:${before.PATH}`;
    Object.assign(process.env, { KUBEBUILDER_ASSETS: '', XDG_CACHE_HOME: cache, PATH });
  });
  afterEach(() => {
    for (const name of NAMES) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  });

  test.each([
    ['what it downloads has another checksum', () => address, 6],
    ['downloads are off', () => 'off', 0],
  ])('builds it if %s', async (_, from, requests) => {
    process.env.FLUXQUEUE_DOWNLOADS = from();
    const lines: string[] = [];
    const { kubectl } = await findAssets({ progress: (line) => lines.push(line) });
    expect(readFileSync(kubectl, 'utf8')).toBe('built');
    expect(readdirSync(dirname(kubectl))).toContain('kwok');
    expect(asked.length > 0).toBe(requests > 0);
    expect(lines.some((line) => line.startsWith('no official programs: '))).toBe(requests > 0);
  });
});
