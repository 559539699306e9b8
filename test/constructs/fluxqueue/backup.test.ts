/** Dumps of the database: what the CronJob runs, with a real Postgres, and what docs/operations.md says to restore one. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiObject, App, JsonPatch, Size } from 'cdk8s';
import { type k8s, Secret } from 'cdk8s-plus-28';
import { BackupTarget, Database, FluxQueue, type FluxQueueProps } from '../../../constructs/fluxqueue/index';
import { openDatabase } from '../../../runtime/queue/database';
import { TABLE_GRANTS } from '../../../runtime/queue/grants';
import { migrateAndGrant } from '../../../runtime/queue/migrate';
import type { KubeObject } from '../../cluster/api';
import { find, names, stackObjects } from '../manifests';
import { DatabasePod, RUNTIME_ROLE } from './database-pod';
import { completePostgres } from './postgres-programs';

const VOLUME = Database.statefulSet({ backup: {} });
const S3 = Database.statefulSet({
  backup: {
    schedule: '*/30 * * * *',
    target: BackupTarget.s3({
      endpoint: 'https://minio.example.org:9000',
      bucket: 'dumps',
      prefix: 'north/',
      credentials: Secret.fromSecretName(new App(), 'keys', 's3-keys'),
    }),
  },
});

interface CronJob {
  readonly spec: { schedule: string; jobTemplate: { spec: { template: { spec: k8s.PodSpec } } } };
}
function podOf(props: FluxQueueProps): k8s.PodSpec {
  return find<CronJob>(stackObjects(props), 'CronJob', 'fluxqueue-backup').spec.jobTemplate.spec.template
    .spec;
}

/** The Jobs of a stack, whose apiserver lets nobody change their pods. */
function jobsOf(props: FluxQueueProps): KubeObject[] {
  return stackObjects(props).filter(({ kind }) => kind === 'Job');
}

describe('the dumps in the manifests', () => {
  test('are written to a volume that no engine of GitOps deletes', () => {
    const objects = stackObjects({ database: VOLUME });
    const claim = find(objects, 'PersistentVolumeClaim', 'fluxqueue-backup');
    expect(claim.spec).toMatchObject({ resources: { requests: { storage: '10Gi' } } });
    expect(claim.metadata.annotations).toMatchObject({ 'kustomize.toolkit.fluxcd.io/prune': 'disabled' });
    const { containers, initContainers } = podOf({ database: VOLUME });
    expect([containers.length, initContainers]).toEqual([1, undefined]);
    expect(containers[0]!.env).toContainEqual({ name: 'KEEP', value: '14' });
  });

  test('are brought to a bucket by the runtime, which alone has the credentials of the store', () => {
    expect(names(stackObjects({ database: S3 }))).not.toContain('PersistentVolumeClaim/fluxqueue-backup');
    const { containers, initContainers } = podOf({ database: S3 });
    expect(initContainers!.map(({ name }) => name)).toEqual(['dump']);
    expect(containers[0]!.command!.slice(3)).toEqual([
      'store-backup',
      ...['--folder', '/backups', '--endpoint', 'https://minio.example.org:9000'],
      ...['--bucket', 'dumps', '--prefix', 'north/'],
    ]);
    expect(JSON.stringify(initContainers)).not.toContain('s3-keys');
    expect(JSON.stringify(containers)).toContain('s3-keys');
  });

  test.each([
    ['volume', VOLUME],
    ['bucket', S3],
  ])('to a %s begin with the installation, in a pod as every other', (_, database) => {
    const [job] = jobsOf({ database });
    const { template, backoffLimit } = job!.spec as k8s.JobSpec;
    const without = JSON.stringify(template).replaceAll(',{"name":"FIRST","value":"true"}', '');
    expect(JSON.parse(without)).toEqual({ ...template, spec: podOf({ database }) });
    expect(JSON.stringify(template).length).toBeGreaterThan(without.length);
    expect(backoffLimit).toBe(2 ** 31 - 1);
  });

  test('have another first Job for other pods, however these are changed, and the same for the same', () => {
    const nameOf = (props: FluxQueueProps = {}) =>
      jobsOf({ database: VOLUME, ...props }).map(({ metadata }) => metadata.name);
    expect(nameOf()).toEqual([expect.stringMatching(/^fluxqueue-backup-first-[0-9a-f]{16}$/)]);
    expect(nameOf({ annotations: { note: 'of the object alone' } })).toEqual(nameOf());
    expect(nameOf({ labels: { team: 'hpc' } })).not.toEqual(nameOf());

    const stack = new FluxQueue(new App(), 'fluxqueue', { database: VOLUME });
    const job = stack.node.findAll().find((each) => ApiObject.isApiObject(each) && each.kind === 'Job');
    (job as ApiObject).addJsonPatch(JsonPatch.add('/spec/template/spec/hostUsers', false));
    const patched = (job as ApiObject).toJson() as KubeObject;
    expect(patched.spec).toMatchObject({ template: { spec: { hostUsers: false } } });
    expect(nameOf()).not.toContain(patched.metadata.name);
  });

  test('reach the database and the store, and nothing else', () => {
    const objects = stackObjects({ database: S3 });
    const { spec } = find<{ spec: k8s.NetworkPolicySpec }>(objects, 'NetworkPolicy', 'fluxqueue-backup');
    const ports = (spec.egress ?? []).flatMap((rule) => (rule.ports ?? []).map(({ port }) => port));
    expect(ports).toEqual([53, 53, 5432, 9000]);
    const database = find<{ spec: k8s.NetworkPolicySpec }>(objects, 'NetworkPolicy', 'fluxqueue-database');
    expect(JSON.stringify(database.spec.ingress)).toContain('"app.kubernetes.io/component":"backup"');
  });

  test('take the settings of pods.backup, which needs dumps', () => {
    const pods = { backup: { nodeSelector: { pool: 'system' }, resources: { limits: { memory: '2Gi' } } } };
    const { nodeSelector, containers } = podOf({ database: VOLUME, pods });
    expect(nodeSelector).toEqual({ pool: 'system' });
    expect(containers[0]!.resources!.limits).toEqual({ memory: '2Gi' });
    expect(() => stackObjects({ pods })).toThrow('FluxQueue.pods.backup: requires dumps of the database');
  });

  test('are refused with a target or a version that cannot be', () => {
    expect(() => BackupTarget.volume({ keep: 0 })).toThrow(
      'BackupTarget.volume.keep: must be a whole number',
    );
    const credentials = Secret.fromSecretName(new App(), 'keys', 'keys');
    expect(() => BackupTarget.s3({ endpoint: 'minio:9000', bucket: 'b', credentials })).toThrow(
      'BackupTarget.s3.endpoint: is not a URL',
    );
    expect(() => Database.statefulSet({ replacesMajor: 17.5 })).toThrow('replacesMajor');
    expect(() => Database.statefulSet({ storage: Size.kibibytes(0) })).toThrow('must be greater than 0');
  });
});

const postgres = completePostgres();
if (postgres === undefined) process.stderr.write('skipped: dumps and their restore (no pg_dump here)\n');

(postgres === undefined ? describe.skip : describe)('a dump of a real Postgres', () => {
  let pod: DatabasePod;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fluxqueue-backups-'));
    pod = await DatabasePod.create(postgres);
    writeFileSync(join(folder, 'ca.crt'), pod.certificate.bundle);
    pod.start();
    await pod.untilReady('first');
    const database = openDatabase({ url: pod.ownerUrl });
    await migrateAndGrant(database, RUNTIME_ROLE);
    await database.close();
    await pod.own(`INSERT INTO fluxqueue.queues (name) VALUES ('night')`);
    await pod.own(`SELECT nextval('fluxqueue.jobid') FROM generate_series(1, 41)`);
  });
  afterAll(async () => {
    await pod.remove();
    rmSync(folder, { recursive: true });
  });

  const dumps = () => readdirSync(folder).filter((name) => name !== 'ca.crt');

  /** Runs the container of the CronJob. */
  function dump(more: NodeJS.ProcessEnv = {}) {
    const { command = [], env = [] } = podOf({ database: VOLUME }).containers[0]!;
    const given = env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
    return spawnSync(command[0]!, command.slice(1), {
      encoding: 'utf8',
      env: {
        ...Object.fromEntries(given),
        PATH: `${postgres}/bin:${process.env.PATH}`,
        FOLDER: folder,
        PGHOST: 'localhost',
        PGPORT: String(pod.port),
        PGSSLROOTCERT: join(folder, 'ca.crt'),
        PGPASSWORD: 'first',
        ...more,
      },
    });
  }

  /** Runs the documented command, which is for the database's container. */
  function restore(file: string): void {
    const page = readFileSync(join(__dirname, '../../../docs/operations.md'), 'utf8');
    const [, options = ''] = /-c postgres -- pg_restore (.*) <FILE$/m.exec(page)!;
    const args = [...options.split(' '), '--host', pod.socket, '--port', String(pod.port)];
    const { status, stderr } = spawnSync(join(postgres!, 'bin', 'pg_restore'), args, {
      encoding: 'utf8',
      input: readFileSync(join(folder, file)),
    });
    expect([status, stderr]).toEqual([0, '']);
  }

  /** Content of all tables and of the sequence, as the role of the controllers sees them. */
  async function content(): Promise<unknown> {
    const texts = Object.keys(TABLE_GRANTS).map(
      (table) => `(SELECT json_agg(t ORDER BY t::text)::text FROM fluxqueue.${table} t) AS ${table}`,
    );
    return pod.query('first', `SELECT ${texts.join()}, (SELECT last_value FROM fluxqueue.jobid)`);
  }

  test('restores every row and every right, over other rows and where the tables are gone', async () => {
    const before = await content();
    expect(dump().stderr).toMatch(/^fluxqueue: wrote \S+, \d+ bytes\n$/);
    expect(dumps()).toHaveLength(1);
    await pod.own(`INSERT INTO fluxqueue.queues (name) VALUES ('later')`);
    expect(await content()).not.toEqual(before);
    restore(dumps()[0]!);
    expect(await content()).toEqual(before);
    await pod.own('DROP SCHEMA fluxqueue CASCADE');
    restore(dumps()[0]!);
    expect(await content()).toEqual(before);
  });

  test('is the first only in a folder without one', () => {
    const before = dumps();
    expect(dump({ FIRST: 'true', PGPASSWORD: 'not asked for' })).toMatchObject({
      status: 0,
      stderr: 'fluxqueue: there is a dump\n',
    });
    expect(dumps()).toEqual(before);
    for (const name of before) rmSync(join(folder, name));
    expect(dump({ FIRST: 'true' }).status).toBe(0);
    expect(dumps()).toHaveLength(1);
  });

  test('fails without a file that looks like a dump, and the next run removes its rest', () => {
    expect(dump({ PGPASSWORD: 'wrong' }).status).not.toBe(0);
    writeFileSync(join(folder, 'fluxqueue-20200101T000000Z.dump.part'), '');
    expect(dump().status).toBe(0);
    expect(dumps().filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('does not trust a server with another certificate', () => {
    const { status, stderr } = dump({ PGHOST: '127.0.0.2' });
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/certificate|refused/);
  });

  test('keeps the newest dumps', () => {
    // Those of the tests before may have the name of the next one: names have seconds.
    for (const name of dumps()) rmSync(join(folder, name));
    for (const year of [2019, 2020, 2021])
      writeFileSync(join(folder, `fluxqueue-${year}0101T000000Z.dump`), '');
    expect(dump({ KEEP: '2' }).status).toBe(0);
    expect(dumps().sort()).toEqual([
      'fluxqueue-20210101T000000Z.dump',
      expect.not.stringMatching(/20(19|20|21)01/),
    ]);
  });
});
