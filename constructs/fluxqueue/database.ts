/**
 * Postgres database of the queue. The password never leaves the cluster: the stack creates an empty Secret, and before each
 * start of Postgres the role `password` of the runtime fills the Secret if it is empty and writes the password to a file
 * for Postgres. It is an init container instead of a Job, because the template of a Job is immutable, and GitOps tools
 * create a Job again each time its TTL deletes it.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Size } from 'cdk8s';
import { type ISecret, k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { PRIORITY_CLASS } from '../api/labels';
import { DEFAULT_IMAGES, roleCommand } from '../images';
import { type ComponentProps, KEEP, objectMetadata, selectorLabels, Wave } from '../metadata';
import {
  API_ACCESS_MOUNT,
  API_ACCESS_VOLUME,
  NO_SERVICE_LINKS,
  RESTRICTED,
  resources,
  restrictedPod,
} from './pod';
import { DatabaseAccount } from './rbac';

const NAME = 'fluxqueue-database';
/**
 * Service of the clients. The governing Service of the StatefulSet is headless, and both that name in a StatefulSet and
 * the address of a Service are immutable, so an upgrade can only add a Service.
 */
const CLIENT_SERVICE = 'fluxqueue-postgres';
const URL_KEY = 'url';
const USER = 'fluxqueue';
const PORT = 5432;
/** Entrypoint instead of that of the image, which accepts an incomplete data directory as a database. */
const START = readFileSync(join(__dirname, 'postgres.sh'), 'utf8');
/** Logs in as the queue does: a server that answers but rejects the login is not ready. */
const LOGIN =
  'PGPASSWORD="$(cat "$POSTGRES_PASSWORD_FILE")" exec ' +
  'psql -XAtqw -h 127.0.0.1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" -c "SELECT 1"';
/** User `postgres` of the Debian image. */
const POSTGRES_USER_ID = 999;
const PASSWORD_FOLDER = '/run/fluxqueue-password';
const PASSWORD_FILE = `${PASSWORD_FOLDER}/password`;

/** A key of a Secret in the namespace of the stack. */
export interface SecretKey {
  /** Name of the Secret. */
  readonly name: string;
  /** Key of the Secret. */
  readonly key: string;
}

export interface StatefulDatabaseProps {
  /** Size of the volume for the data. @default Size.gibibytes(10) */
  readonly storage?: Size;
  /** Name of the StorageClass of the volume. @default - the default StorageClass of the cluster */
  readonly storageClassName?: string;
  /** Image of docker.io/library/postgres (Debian), version 18 or newer. @default docker.io/library/postgres:18.6-bookworm */
  readonly image?: string;
}

/** Postgres database with the tables of the queue. */
export abstract class Database {
  /** Deploys Postgres as part of the stack, with a volume and a generated password. */
  static statefulSet(props: StatefulDatabaseProps = {}): Database {
    return new StatefulDatabase(props);
  }

  /**
   * Uses an existing Postgres.
   * @param secret Secret in the namespace of the stack, e.g. `Secret.fromSecretName(chart, 'db', 'fluxqueue-db')`
   * @param key key of the Secret with a URL like postgres://user:password@host:5432/database. @default url
   */
  static fromSecret(secret: ISecret, key = URL_KEY): Database {
    return new ExistingDatabase({ name: secret.name, key });
  }

  /** Key of a Secret with the URL of the database. */
  abstract readonly url: SecretKey;

  /** Whether the stack deploys the database. */
  abstract readonly isDeployed: boolean;

  /** Adds the objects of the database to the stack. */
  abstract render(scope: Construct, props: DatabaseProps): void;
}

export interface DatabaseProps extends ComponentProps {
  /** Image of the runtime, for its role `password`. */
  readonly runtimeImage: string;
}

class ExistingDatabase extends Database {
  override readonly isDeployed = false;

  constructor(override readonly url: SecretKey) {
    super();
  }

  override render(): void {
    // An existing database needs no objects.
  }
}

class StatefulDatabase extends Database {
  override readonly url: SecretKey = { name: NAME, key: URL_KEY };
  override readonly isDeployed = true;

  constructor(private readonly props: StatefulDatabaseProps) {
    super();
  }

  override render(scope: Construct, props: DatabaseProps): void {
    new Postgres(scope, 'postgres', { ...this.props, ...props });
  }
}

class Postgres extends Construct {
  constructor(scope: Construct, id: string, props: StatefulDatabaseProps & DatabaseProps) {
    super(scope, id);
    const { namespace } = props;
    const labels = selectorLabels('database');
    const metadata = objectMetadata({ name: NAME, namespace, component: 'database', wave: Wave.DATABASE });
    new DatabaseAccount(this, 'account', { namespace, name: NAME });
    new k8s.KubeSecret(this, 'password', {
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
    new k8s.KubeStatefulSet(this, 'stateful-set', {
      metadata,
      spec: {
        replicas: 1,
        serviceName: NAME,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: pod(props) },
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim(props) }],
      },
    });
  }

  private addServices(namespace: string, selector: Record<string, string>): void {
    const ports = [{ name: 'postgres', port: PORT, targetPort: k8s.IntOrString.fromString('postgres') }];
    const metadata = (name: string) =>
      objectMetadata({ name, namespace, component: 'database', wave: Wave.DATABASE });
    new k8s.KubeService(this, 'service', {
      metadata: metadata(NAME),
      spec: { clusterIp: 'None', selector, ports },
    });
    // DNS servers and resolvers cache the address of a headless name, and that it has none, for 5 to 30 s after the pod
    // moved. A cluster IP never changes, and refuses connections while the database has no pod. There is one pod, so its
    // address is published before it is Ready: Postgres refuses a login that is too early, and the client retries.
    new k8s.KubeService(this, 'client-service', {
      metadata: metadata(CLIENT_SERVICE),
      spec: { selector, ports, publishNotReadyAddresses: true },
    });
  }
}

function claim({
  storage = Size.gibibytes(10),
  storageClassName,
}: StatefulDatabaseProps): k8s.PersistentVolumeClaimSpec {
  return {
    accessModes: ['ReadWriteOnce'],
    ...(storageClassName === undefined ? {} : { storageClassName }),
    resources: { requests: { storage: k8s.Quantity.fromString(storage.asString()) } },
  };
}

function pod(props: StatefulDatabaseProps & DatabaseProps): k8s.PodSpec {
  return {
    serviceAccountName: NAME,
    automountServiceAccountToken: false,
    ...NO_SERVICE_LINKS,
    priorityClassName: PRIORITY_CLASS,
    securityContext: { ...restrictedPod(POSTGRES_USER_ID), fsGroupChangePolicy: 'OnRootMismatch' },
    // A fast shutdown of Postgres (SIGINT, the stop signal of its image) writes a checkpoint first.
    terminationGracePeriodSeconds: 120,
    initContainers: [passwordContainer(props)],
    containers: [postgresContainer(props)],
    volumes: [
      API_ACCESS_VOLUME,
      { name: 'password', emptyDir: { medium: 'Memory', sizeLimit: k8s.Quantity.fromString('1Mi') } },
      { name: 'run', emptyDir: {} },
      { name: 'tmp', emptyDir: {} },
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
      ...['--url', `postgres://${USER}@${CLIENT_SERVICE}.${namespace}.svc:${PORT}/${USER}`],
      ...['--file', PASSWORD_FILE],
    ),
    resources: resources({ cpu: '50m', memory: '128Mi', memoryLimit: '256Mi' }),
    securityContext: RESTRICTED,
    volumeMounts: [API_ACCESS_MOUNT, { name: 'password', mountPath: PASSWORD_FOLDER }],
  };
}

function postgresContainer({ image = DEFAULT_IMAGES.postgres }: StatefulDatabaseProps): k8s.Container {
  const isUp = ['pg_isready', '-h', '127.0.0.1', '-U', USER, '-d', USER];
  const logsIn = ['sh', '-c', LOGIN];
  return {
    name: 'postgres',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', START, 'postgres.sh'],
    env: [
      { name: 'POSTGRES_USER', value: USER },
      { name: 'POSTGRES_DB', value: USER },
      { name: 'POSTGRES_PASSWORD_FILE', value: PASSWORD_FILE },
    ],
    ports: [{ name: 'postgres', containerPort: PORT }],
    startupProbe: { exec: { command: logsIn }, periodSeconds: 1, timeoutSeconds: 3, failureThreshold: 300 },
    livenessProbe: { exec: { command: isUp }, periodSeconds: 20, timeoutSeconds: 10, failureThreshold: 6 },
    readinessProbe: { exec: { command: logsIn }, periodSeconds: 5, timeoutSeconds: 3 },
    resources: resources({ cpu: '100m', memory: '256Mi', memoryLimit: '1Gi' }),
    securityContext: RESTRICTED,
    volumeMounts: [
      // The parent of the data directory: the image has one subdirectory per major version.
      { name: 'data', mountPath: '/var/lib/postgresql' },
      { name: 'password', mountPath: PASSWORD_FOLDER, readOnly: true },
      { name: 'run', mountPath: '/var/run/postgresql' },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
}
