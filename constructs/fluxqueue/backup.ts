/**
 * Dumps of the stack's own database, the first by a Job and the others by a CronJob. They are read with the role of the
 * controllers, which may read every table of the queue (runtime/queue/grants.ts), so no further login exists.
 * docs/operations.md restores one.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Size } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { DEFAULT_IMAGES, roleCommand } from '../images';
import { KubeObject } from '../kube-object';
import { KEEP, objectMetadata, Wave } from '../metadata';
import { type BackupProps, BackupTarget, type S3TargetProps, type VolumeTargetProps } from './backup-target';
import { hash } from './configuration';
import { NO_SERVICE_LINKS, RESTRICTED, resources, restrictedPod } from './pod';
import {
  DATABASE_NAME,
  DATABASE_PORT,
  type DatabaseProps,
  databaseHost,
  OWNER,
  POSTGRES_USER_ID,
  RUNTIME_ROLE,
} from './postgres';

const NAME = 'fluxqueue-backup';
const FOLDER = '/backups';
const CA_FOLDER = '/run/fluxqueue-ca';
const SCRIPT = readFileSync(join(__dirname, 'backup.sh'), 'utf8');

interface Props extends BackupProps, DatabaseProps {
  /** Image of Postgres: pg_dump must not be older than the server. */
  readonly image?: string;
}

/**
 * A Job whose name has a hash of what it runs. Kubernetes lets nobody change the pods of a Job, so other pods need another Job,
 * whatever changes them: a prop, a release, a patch. Engines prune the one before (docs/operations.md for kubectl).
 */
class RunOnce extends KubeObject<k8s.KubeJobProps> {
  constructor(scope: Construct, id: string, props: k8s.KubeJobProps) {
    super(scope, id, k8s.KubeJob, props);
  }

  override toJson(): unknown {
    const job = super.toJson() as k8s.KubeJobProps;
    const name = `${job.metadata?.name}-${hash(JSON.stringify(job.spec))}`;
    return { ...job, metadata: { ...job.metadata, name } };
  }
}

/** Jobs that dump the queue's tables, and the volume of the dumps. */
export class Backup extends Construct {
  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id);
    const { namespace, schedule = '0 3 * * *', target = BackupTarget.volume() } = props;
    const place = { name: NAME, namespace, component: 'backup', wave: Wave.BACKUP } as const;
    if ('volume' in target.kind)
      new KubeObject(this, 'volume', k8s.KubePersistentVolumeClaim, {
        metadata: objectMetadata({ ...place, annotations: KEEP }),
        spec: claim(target.kind.volume),
      });
    new KubeObject(this, 'cron-job', k8s.KubeCronJob, {
      metadata: objectMetadata(place),
      spec: {
        schedule,
        timeZone: 'Etc/UTC',
        concurrencyPolicy: 'Forbid',
        // A dump that is an hour late is worth more than none.
        startingDeadlineSeconds: 3600,
        jobTemplate: {
          spec: { backoffLimit: 3, template: props.pods.template('backup', pod(props, target)) },
        },
      },
    });
    // It shows at once whether dumps work. Most StorageClasses make a volume for its first pod, and engines wait for the volume.
    new RunOnce(this, 'first', {
      metadata: objectMetadata({ ...place, name: `${NAME}-first` }),
      spec: {
        // It waits for the tables, and for whoever corrects what it needs: a Job that has failed would have to be deleted.
        backoffLimit: 2 ** 31 - 1,
        template: props.pods.template('backup', pod(props, target, { FIRST: 'true' })),
      },
    });
  }
}

function claim({
  storage = Size.gibibytes(10),
  storageClassName,
}: VolumeTargetProps): k8s.PersistentVolumeClaimSpec {
  return {
    accessModes: ['ReadWriteOnce'],
    ...(storageClassName === undefined ? {} : { storageClassName }),
    resources: { requests: { storage: k8s.Quantity.fromString(storage.asString()) } },
  };
}

function pod(props: Props, { kind }: BackupTarget, more: Readonly<Record<string, string>> = {}): k8s.PodSpec {
  const [dump, containers] =
    'volume' in kind
      ? [[], [dumpContainer('backup', props, { KEEP: String(kind.volume.keep ?? 14), ...more })]]
      : [[dumpContainer('dump', props, more)], [storeContainer(props, kind.s3)]];
  return {
    automountServiceAccountToken: false,
    ...NO_SERVICE_LINKS,
    restartPolicy: 'OnFailure',
    securityContext: { ...restrictedPod(POSTGRES_USER_ID), fsGroupChangePolicy: 'OnRootMismatch' },
    ...(dump.length === 0 ? {} : { initContainers: dump }),
    containers,
    volumes: [
      {
        name: 'backups',
        ...('volume' in kind ? { persistentVolumeClaim: { claimName: NAME } } : { emptyDir: {} }),
      },
      {
        name: 'ca',
        secret: { secretName: DATABASE_NAME, items: [{ key: 'ca.crt', path: 'ca.crt' }] },
      },
    ],
  };
}

function dumpContainer(
  name: string,
  { image, namespace }: Props,
  more: Readonly<Record<string, string>>,
): k8s.Container {
  return {
    name,
    image: image ?? DEFAULT_IMAGES.postgres,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', SCRIPT, 'backup.sh'],
    env: [
      { name: 'FOLDER', value: FOLDER },
      ...Object.entries(more).map(([name, value]) => ({ name, value })),
      { name: 'PGHOST', value: databaseHost(namespace) },
      { name: 'PGPORT', value: String(DATABASE_PORT) },
      { name: 'PGDATABASE', value: OWNER },
      { name: 'PGUSER', value: RUNTIME_ROLE },
      { name: 'PGPASSWORD', valueFrom: { secretKeyRef: { name: DATABASE_NAME, key: 'password' } } },
      { name: 'PGSSLMODE', value: 'verify-full' },
      { name: 'PGSSLROOTCERT', value: `${CA_FOLDER}/ca.crt` },
    ],
    resources: resources({ cpu: '20m', memory: '64Mi', memoryLimit: '512Mi' }),
    securityContext: RESTRICTED,
    volumeMounts: [
      { name: 'backups', mountPath: FOLDER },
      { name: 'ca', mountPath: CA_FOLDER, readOnly: true },
    ],
  };
}

function storeContainer({ runtimeImage }: Props, s3: S3TargetProps): k8s.Container {
  const { endpoint, bucket, prefix, region, credentials } = s3;
  const from = (key: string) => ({
    name: key,
    valueFrom: { secretKeyRef: { name: credentials.name, key } },
  });
  return {
    name: 'backup',
    image: runtimeImage,
    imagePullPolicy: 'IfNotPresent',
    command: roleCommand(
      'store-backup',
      ...['--folder', FOLDER, '--endpoint', endpoint, '--bucket', bucket],
      ...(prefix ? ['--prefix', prefix] : []),
      ...(region === undefined ? [] : ['--region', region]),
    ),
    env: [from('AWS_ACCESS_KEY_ID'), from('AWS_SECRET_ACCESS_KEY')],
    resources: resources({ cpu: '10m', memory: '96Mi', memoryLimit: '256Mi' }),
    securityContext: RESTRICTED,
    volumeMounts: [{ name: 'backups', mountPath: FOLDER, readOnly: true }],
  };
}
