import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, parseConfig } from '../runtime/config';
import { parseQuantity } from '../runtime/jobspec/quantity';

describe('configuration', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'fluxqueue-config-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const file = (text: string) => {
    const path = join(folder, `${Math.random()}.yaml`);
    writeFileSync(path, text);
    return path;
  };

  test('has a default for every setting', () => {
    expect(loadConfig(undefined, {})).toMatchObject({
      logLevel: 'info',
      http: { port: 8080 },
      fluxion: { address: 'embedded', policy: 'lonode' },
      queue: { name: 'default', enabled: true, policy: 'easy', defaultWalltimeSeconds: 3600 },
      fairShare: { enabled: false, halfLifeSeconds: 604_800 },
      units: { cpuMillis: 100, memoryMiB: 128 },
    });
    expect(loadConfig(file(''), {})).toEqual(loadConfig(undefined, {}));
  });

  test('prefers environment variables to the file, and the file to defaults', () => {
    const path = file('http:\n  port: 9000\nqueue:\n  policy: fcfs\n  depth: 10\n');
    const config = loadConfig(path, {
      FLUXQUEUE_http_port: '0',
      DATABASE_URL: 'postgres://u:p@h/d',
      FLUXQUEUE_queue_policy: '',
    });
    expect(config.http.port).toBe(0);
    expect(config.queue).toMatchObject({ policy: 'fcfs', depth: 10 });
    expect(config.database.url).toBe('postgres://u:p@h/d');
  });

  test.each([
    ['FLUXQUEUE_http_port', 'tcp://10.0.0.1:80', 'http.port'],
    ['FLUXQUEUE_queue_policy', 'fair', 'queue.policy'],
    ['FLUXQUEUE_logLevel', 'loud', 'logLevel'],
    ['DATABASE_URL', 'mysql://me:secret@host/db', 'database.url'],
  ])('refuses an invalid value in %s with the variable and the path', (variable, value, field) => {
    const path = file('http: { host: 127.0.0.1 }');
    const load = () => loadConfig(path, { [variable]: value });
    expect(load).toThrow(expect.objectContaining({ code: 'FLUXQ_CONFIG_INVALID', field }));
    expect(load).toThrow(`; correct it in the environment variable ${variable}`);
    expect(load).not.toThrow(/secret/);
  });

  test.each(['ten gigabytes', '10GB', '-1Gi'])('refuses %s as the size of the volume', (storage) => {
    expect(() => parseConfig({ database: { storage } })).toThrow(
      expect.objectContaining({
        code: 'FLUXQ_CONFIG_INVALID',
        message: expect.stringContaining('database.storage: must be a quantity of Kubernetes, as 10Gi'),
      }),
    );
  });

  test.each(['1.5Ti', '51200Mi', '20G', '1e12', '5368709120'])(
    'accepts %s as the size of the volume',
    (storage) => {
      expect(parseConfig({ database: { storage } }).database.storage).toBe(storage);
      expect(parseQuantity(storage, 'storage')).toBeGreaterThan(0n);
    },
  );

  test('names the file for an invalid value in the file', () => {
    const path = file('http: { port: many }');
    expect(() => loadConfig(path, { FLUXQUEUE_http_host: '::1' })).toThrow(`correct it in ${path}`);
    expect(() => loadConfig(file('http: 80'), { FLUXQUEUE_http_host: '::1' })).toThrow(
      expect.objectContaining({ field: 'http', value: 80 }),
    );
  });

  test('ignores with a warning what only a newer version knows, wherever it is', () => {
    const path = file(
      'http: { port: 9000, ipFamily: both }\nqueue: { quota: { jobs: 5, licences: 2 } }\nkueue: {}\n',
    );
    const warnings: string[] = [];
    const environment = { FLUXQUEUE_http_prot: '80', FLUXQUEUE_HTTP_PORT: 'tcp://10.0.0.1:80' };
    const config = loadConfig(path, environment, (sentence) => warnings.push(sentence));
    expect(config).toEqual(loadConfig(file('http: { port: 9000 }\nqueue: { quota: { jobs: 5 } }'), {}));
    const ignored = 'is not known to this version and is ignored';
    expect(warnings.sort()).toEqual([
      `the environment variable FLUXQUEUE_http_prot ${ignored}`,
      `the setting http.ipFamily in ${path} ${ignored}`,
      `the setting kueue in ${path} ${ignored}`,
      `the setting queue.quota.licences in ${path} ${ignored}`,
    ]);
  });

  test('refuses an invalid value beside an unknown setting', () => {
    expect(() => parseConfig({ http: { prot: 80, port: 'many' } })).toThrow(
      expect.objectContaining({ code: 'FLUXQ_CONFIG_INVALID', field: 'http.port', value: 'many' }),
    );
  });

  test.each([
    ['a wrong type', { http: { port: 'many' } }, 'http.port', 'many'],
    ['a port out of range', { http: { port: 70_000 } }, 'http.port', 70_000],
    ['a value that is not one of the choices', { queue: { policy: 'fair' } }, 'queue.policy', 'fair'],
    ['a queue name that is not valid in a label', { queue: { name: 'a/b' } }, 'queue.name', 'a/b'],
    ['a half-life of 0', { fairShare: { halfLifeSeconds: 0 } }, 'fairShare.halfLifeSeconds', 0],
    ['a unit size of 0', { units: { cpuMillis: 0 } }, 'units.cpuMillis', 0],
    ['a list', [], 'configuration', []],
  ])('refuses %s with its path and value', (_, given, field, value) => {
    expect(() => parseConfig(given)).toThrow(
      expect.objectContaining({ code: 'FLUXQ_CONFIG_INVALID', field, value }),
    );
  });

  test('never shows the database URL in an error, because it has a password', () => {
    const wrong = { database: { url: 'mysql://me:secret@host/db' } };
    expect(() => parseConfig(wrong)).toThrow(/database\.url: must start with postgres/);
    expect(() => parseConfig(wrong)).not.toThrow(/secret/);
  });

  test('requires that the lease is renewed before it expires', () => {
    const given = { leaderElection: { leaseDurationSeconds: 5, renewDeadlineSeconds: 5 } };
    expect(() => parseConfig(given)).toThrow(
      expect.objectContaining({ code: 'FLUXQ_CONFIG_INVALID', field: 'leaderElection' }),
    );
  });

  test('refuses a match policy that the library does not keep', () => {
    const given = (engine: string, policy: string) => ({ fluxion: { engine, policy } });
    for (const policy of ['first', 'firstnodex']) {
      expect(() => parseConfig(given('library', policy))).toThrow(
        expect.objectContaining({ code: 'FLUXQ_CONFIG_INVALID', field: 'fluxion.policy', value: policy }),
      );
      expect(parseConfig(given('embedded', policy)).fluxion.policy).toBe(policy);
    }
    expect(parseConfig(given('library', 'locality')).fluxion.policy).toBe('locality');
  });

  test.each([
    ['that does not exist', () => join(folder, 'none.yaml')],
    ['that is not YAML', () => file('a: [')],
    ['that is not a mapping', () => file('- a')],
  ])('names a file %s', (_, path) => {
    const given = path();
    expect(() => loadConfig(given, {})).toThrow(
      expect.objectContaining({ code: 'FLUXQ_CONFIG_UNREADABLE', field: given }),
    );
  });
});
