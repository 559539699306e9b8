/**
 * Objects of the stack's own Postgres. Its credentials never leave the cluster: the stack creates an empty Secret, and before
 * each start of Postgres the command `password` of the runtime fills the Secret if it is empty and writes password and
 * certificate to files for Postgres (docs/decisions/0028-database-roles.md). It is an init container instead of a Job, because
 * the template of a Job is immutable, and GitOps tools create a Job again each time its TTL deletes it.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Size } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { PRIORITY_CLASS } from '../api/labels';
import { DEFAULT_IMAGES, roleCommand } from '../images';
import { KubeObject } from '../kube-object';
import { type ComponentProps, KEEP, objectMetadata, selectorLabels, Wave } from '../metadata';
import type { BackupProps } from './backup-target';
import {
  API_ACCESS_MOUNT,
  API_ACCESS_VOLUME,
  NO_SERVICE_LINKS,
  RESTRICTED,
  resources,
  restrictedPod,
} from './pod';
import type { Pods } from './pods/pods';
import { DatabaseAccount } from './rbac';

/** Name of the StatefulSet and of its Secret. */
export const DATABASE_NAME = 'fluxqueue-database';
const NAME = DATABASE_NAME;
/**
 * Service of the clients. The governing Service of the StatefulSet is headless, and both that name in a StatefulSet and
 * the address of a Service are immutable, so an upgrade can only add a Service.
 */
const CLIENT_SERVICE = 'fluxqueue-postgres';
/** Name of the database, and role that owns it and its tables. */
export const OWNER = 'fluxqueue';
/** Role of the controllers. */
export const RUNTIME_ROLE = 'fluxqueue_runtime';
/** Port of Postgres. */
export const DATABASE_PORT = 5432;
/** Entrypoint instead of that of the image, which accepts an incomplete data directory as a database. */
const START = readFileSync(join(__dirname, 'postgres.sh'), 'utf8');
/** Logs in as the queue does: a server that answers but rejects the login is not ready. */
const LOGIN =
  'PGPASSWORD="$(cat "$CREDENTIALS/password")" PGSSLMODE=require exec ' +
  'psql -XAtqw -h 127.0.0.1 -U "$RUNTIME_ROLE" -d "$POSTGRES_DB" -c "SELECT 1"';
/** User `postgres` of the Debian image. */
export const POSTGRES_USER_ID = 999;
const VOLUME = 'data';
const CREDENTIALS = '/run/fluxqueue-credentials';
const SOCKET_FOLDER = '/var/run/postgresql';
/** The owner reaches the database by the Unix socket only. */
const OWNER_URL = `postgres://${OWNER}@${encodeURIComponent(SOCKET_FOLDER)}/${OWNER}`;

/** Size of the volume unless it is given. */
export const DATABASE_STORAGE = Size.gibibytes(10);

export interface StatefulDatabaseProps {
  /** Size of the volume for the data. @default Size.gibibytes(10) */
  readonly storage?: Size;
  /** Name of the StorageClass of the volume. @default - the default StorageClass of the cluster */
  readonly storageClassName?: string;
  /** Image of docker.io/library/postgres (Debian), version 18 or newer. @default docker.io/library/postgres:18.6-bookworm */
  readonly image?: string;
  /**
   * Major version whose data stays in the volume, unused, while `image` of another major version starts with an empty database
   * for a restore (docs/operations.md). Without it such an image refuses to start.
   * @default - none
   */
  readonly replacesMajor?: number;
  /** Scheduled dumps of the queue's tables. @default - no dumps */
  readonly backup?: BackupProps;
}

export interface DatabaseProps extends ComponentProps {
  /** Image of the runtime, for its role `password`. */
  readonly runtimeImage: string;
  readonly pods: Pods;
}

export interface PostgresProps extends StatefulDatabaseProps, DatabaseProps {}

export class Postgres extends Construct {
  constructor(scope: Construct, id: string, props: PostgresProps) {
    super(scope, id);
    const { namespace } = props;
    const labels = selectorLabels('database');
    const place = { name: NAME, namespace, component: 'database', wave: Wave.DATABASE } as const;
    new DatabaseAccount(this, 'account', { namespace, name: NAME });
    new KubeObject(this, 'password', k8s.KubeSecret, {
      metadata: objectMetadata({
        name: NAME,
        namespace,
        component: 'database',
        wave: Wave.RIGHTS,
        annotations: KEEP,
      }),
      type: 'Opaque',
    });
    this.addServices(namespace, labels);
    // The templates of a StatefulSet cannot be changed, so its claim of this name has the size that may grow.
    new KubeObject(this, 'volume', k8s.KubePersistentVolumeClaim, {
      metadata: objectMetadata({ ...place, name: `${VOLUME}-${NAME}-0`, annotations: KEEP }),
      spec: claim(props, props.storage),
    });
    new KubeObject(this, 'stateful-set', k8s.KubeStatefulSet, {
      metadata: objectMetadata({ ...place, annotations: KEEP }),
      spec: {
        replicas: 1,
        // With OrderedReady a pod that never becomes Ready is not replaced, whatever template follows (kubernetes/kubernetes#67250).
        podManagementPolicy: 'Parallel',
        serviceName: NAME,
        selector: { matchLabels: labels },
        template: props.pods.template('database', pod(props)),
        volumeClaimTemplates: [{ metadata: { name: VOLUME }, spec: claim(props) }],
      },
    });
  }

  private addServices(namespace: string, selector: Record<string, string>): void {
    const ports = [
      { name: 'postgres', port: DATABASE_PORT, targetPort: k8s.IntOrString.fromString('postgres') },
    ];
    const metadata = (name: string) =>
      objectMetadata({ name, namespace, component: 'database', wave: Wave.DATABASE });
    new KubeObject(this, 'service', k8s.KubeService, {
      metadata: metadata(NAME),
      spec: { clusterIp: 'None', selector, ports },
    });
    // DNS servers and resolvers cache the address of a headless name, and that it has none, for 5 to 30 s after the pod
    // moved. A cluster IP never changes, and refuses connections while the database has no pod. There is one pod, so its
    // address is published before it is Ready: Postgres refuses a login that is too early, and the client retries.
    new KubeObject(this, 'client-service', k8s.KubeService, {
      metadata: metadata(CLIENT_SERVICE),
      spec: { selector, ports, publishNotReadyAddresses: true },
    });
  }
}

function claim(
  { storageClassName }: StatefulDatabaseProps,
  storage = DATABASE_STORAGE,
): k8s.PersistentVolumeClaimSpec {
  return {
    accessModes: ['ReadWriteOnce'],
    ...(storageClassName === undefined ? {} : { storageClassName }),
    resources: { requests: { storage: k8s.Quantity.fromString(storage.asString()) } },
  };
}

function pod(props: PostgresProps): k8s.PodSpec {
  return {
    serviceAccountName: NAME,
    automountServiceAccountToken: false,
    ...NO_SERVICE_LINKS,
    priorityClassName: PRIORITY_CLASS,
    securityContext: { ...restrictedPod(POSTGRES_USER_ID), fsGroupChangePolicy: 'OnRootMismatch' },
    // A fast shutdown of Postgres (SIGINT, the stop signal of its image) writes a checkpoint first.
    terminationGracePeriodSeconds: 120,
    initContainers: [passwordContainer(props)],
    containers: [postgresContainer(props), ownerContainer(props)],
    volumes: [
      API_ACCESS_VOLUME,
      { name: 'credentials', emptyDir: { medium: 'Memory', sizeLimit: k8s.Quantity.fromString('1Mi') } },
      { name: 'run', emptyDir: { sizeLimit: k8s.Quantity.fromString('16Mi') } },
      { name: 'tmp', emptyDir: { sizeLimit: k8s.Quantity.fromString('64Mi') } },
    ],
  };
}

function passwordContainer({ namespace, runtimeImage }: DatabaseProps): k8s.Container {
  return {
    name: 'password',
    image: runtimeImage,
    imagePullPolicy: 'IfNotPresent',
    command: roleCommand(
      'password',
      ...['--namespace', namespace],
      ...['--secret', NAME],
      ...['--url', clientUrl(namespace)],
      ...['--folder', CREDENTIALS],
    ),
    resources: resources({ cpu: '50m', memory: '128Mi', memoryLimit: '256Mi' }),
    securityContext: RESTRICTED,
    volumeMounts: [API_ACCESS_MOUNT, { name: 'credentials', mountPath: CREDENTIALS }],
  };
}

/** Name of the database for its clients, for which its certificate is valid. */
export function databaseHost(namespace: string): string {
  return `${CLIENT_SERVICE}.${namespace}.svc`;
}

function clientUrl(namespace: string): string {
  return `postgres://${RUNTIME_ROLE}@${databaseHost(namespace)}:${DATABASE_PORT}/${OWNER}?sslmode=verify-full`;
}

/** Migrates the tables at each start of the pod. A pod has no container that ends after its server has started, so it stays. */
function ownerContainer({ runtimeImage }: DatabaseProps): k8s.Container {
  return {
    ...migrateContainer(runtimeImage, RUNTIME_ROLE, '--stay'),
    env: [{ name: 'DATABASE_URL', value: OWNER_URL }],
    volumeMounts: [{ name: 'run', mountPath: SOCKET_FOLDER }],
  };
}

export function migrateContainer(image: string, role: string, ...options: string[]): k8s.Container {
  return {
    name: 'migrate',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: roleCommand('migrate', '--grant-to', role, ...options),
    resources: resources({ cpu: '10m', memory: '96Mi', memoryLimit: '256Mi' }),
    securityContext: RESTRICTED,
  };
}

function postgresContainer({ image = DEFAULT_IMAGES.postgres, replacesMajor }: PostgresProps): k8s.Container {
  const isUp = ['pg_isready', '-h', '127.0.0.1', '-U', RUNTIME_ROLE, '-d', OWNER];
  const logsIn = ['sh', '-c', LOGIN];
  return {
    name: 'postgres',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', START, 'postgres.sh'],
    env: [
      { name: 'POSTGRES_USER', value: OWNER },
      { name: 'POSTGRES_DB', value: OWNER },
      { name: 'RUNTIME_ROLE', value: RUNTIME_ROLE },
      { name: 'CREDENTIALS', value: CREDENTIALS },
      ...(replacesMajor === undefined ? [] : [{ name: 'REPLACED_MAJOR', value: String(replacesMajor) }]),
    ],
    ports: [{ name: 'postgres', containerPort: DATABASE_PORT }],
    startupProbe: { exec: { command: logsIn }, periodSeconds: 1, timeoutSeconds: 3, failureThreshold: 300 },
    livenessProbe: { exec: { command: isUp }, periodSeconds: 20, timeoutSeconds: 10, failureThreshold: 6 },
    readinessProbe: { exec: { command: logsIn }, periodSeconds: 5, timeoutSeconds: 3 },
    resources: resources({ cpu: '90m', memory: '256Mi', memoryLimit: '1Gi' }),
    securityContext: RESTRICTED,
    volumeMounts: [
      // The parent of the data directory: the image has one subdirectory per major version.
      { name: VOLUME, mountPath: '/var/lib/postgresql' },
      { name: 'credentials', mountPath: CREDENTIALS, readOnly: true },
      { name: 'run', mountPath: SOCKET_FOLDER },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
}
