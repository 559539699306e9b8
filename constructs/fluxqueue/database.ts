/**
 * The queue's Postgres. The password never exists outside the cluster: the
 * stack creates the Secret empty, and before each start of Postgres the
 * runtime's role `password` fills it if it is still empty and hands Postgres the
 * password as a file. An init container and no Job: a Job's template can't change,
 * and GitOps tools that see a finished one vanish make it again for ever.
 */
import { Size } from 'cdk8s';
import { type ISecret, k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { DEFAULT_IMAGES, roleCommand } from '../images';
import { KEEP, objectMetadata, type ComponentProps, selectorLabels, Wave } from '../metadata';
import { PRIORITY_CLASS } from './base';
import { API_ACCESS_MOUNT, API_ACCESS_VOLUME, RESTRICTED, resources, restrictedPod } from './pod';
import { DatabaseAccount } from './rbac';

const NAME = 'fluxqueue-database';
const URL_KEY = 'url';
const USER = 'fluxqueue';
const PORT = 5432;
/** User `postgres` of the Debian image. */
const POSTGRES_USER_ID = 999;
const PASSWORD_FOLDER = '/run/fluxqueue-password';
const PASSWORD_FILE = `${PASSWORD_FOLDER}/password`;

/** One key of a Secret in the stack's namespace. */
export interface SecretKey {
  readonly name: string;
  readonly key: string;
}

export interface StatefulDatabaseProps {
  /** @default Size.gibibytes(10) */
  readonly storage?: Size;
  /** @default - the cluster's default StorageClass */
  readonly storageClassName?: string;
  /** An image of docker.io/library/postgres (Debian), 18 or newer. @default docker.io/library/postgres:18.4-bookworm */
  readonly image?: string;
}

/** Where the queue's tables are. */
export abstract class Database {
  /** One Postgres of the stack's own, with a volume and a generated password. */
  static statefulSet(props: StatefulDatabaseProps = {}): Database {
    return new StatefulDatabase(props);
  }

  /**
   * A Postgres that exists.
   * @param secret Secret in the stack's namespace, e.g. `Secret.fromSecretName(chart, 'db', 'fluxqueue-db')`
   * @param key its key with a URL like postgres://user:password@host:5432/database. @default url
   */
  static fromSecret(secret: ISecret, key = URL_KEY): Database {
    return new ExistingDatabase({ name: secret.name, key });
  }

  /** The Secret's key with the URL. */
  abstract readonly url: SecretKey;

  /** Whether `render` makes anything. */
  abstract readonly isDeployed: boolean;

  /** Makes what the stack has to bring. */
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
    // Nothing to bring: it is there.
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
    new k8s.KubeService(this, 'service', {
      metadata,
      spec: {
        clusterIp: 'None',
        selector: labels,
        ports: [{ name: 'postgres', port: PORT, targetPort: k8s.IntOrString.fromString('postgres') }],
      },
    });
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
    priorityClassName: PRIORITY_CLASS,
    securityContext: { ...restrictedPod(POSTGRES_USER_ID), fsGroupChangePolicy: 'OnRootMismatch' },
    // A fast shutdown of Postgres (SIGINT of its image) takes as long as its last checkpoint.
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
      ...['--url', `postgres://${USER}@${NAME}.${namespace}.svc:${PORT}/${USER}`],
      ...['--file', PASSWORD_FILE],
    ),
    resources: resources({ cpu: '50m', memory: '128Mi', memoryLimit: '256Mi' }),
    securityContext: RESTRICTED,
    volumeMounts: [API_ACCESS_MOUNT, { name: 'password', mountPath: PASSWORD_FOLDER }],
  };
}

function postgresContainer({ image = DEFAULT_IMAGES.postgres }: StatefulDatabaseProps): k8s.Container {
  const isReady = ['pg_isready', '-h', '127.0.0.1', '-U', USER, '-d', USER];
  return {
    name: 'postgres',
    image,
    imagePullPolicy: 'IfNotPresent',
    env: [
      { name: 'POSTGRES_USER', value: USER },
      { name: 'POSTGRES_DB', value: USER },
      { name: 'POSTGRES_PASSWORD_FILE', value: PASSWORD_FILE },
      {
        name: 'POSTGRES_INITDB_ARGS',
        value: '--auth-host=scram-sha-256 --auth-local=scram-sha-256 --data-checksums',
      },
    ],
    ports: [{ name: 'postgres', containerPort: PORT }],
    startupProbe: { exec: { command: isReady }, periodSeconds: 2, failureThreshold: 150 },
    livenessProbe: { exec: { command: isReady }, periodSeconds: 20, timeoutSeconds: 10, failureThreshold: 6 },
    readinessProbe: { exec: { command: isReady }, periodSeconds: 5, timeoutSeconds: 3 },
    resources: resources({ cpu: '200m', memory: '256Mi', memoryLimit: '1Gi' }),
    securityContext: RESTRICTED,
    volumeMounts: [
      // The folder above the data: the image keeps each major version in one of its own.
      { name: 'data', mountPath: '/var/lib/postgresql' },
      { name: 'password', mountPath: PASSWORD_FOLDER, readOnly: true },
      { name: 'run', mountPath: '/var/run/postgresql' },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
}
