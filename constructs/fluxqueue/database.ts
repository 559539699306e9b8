/** Postgres database of the queue: part of the stack, of the operator CloudNativePG, or one that exists. */

import { type Size, SizeRoundingBehavior } from 'cdk8s';
import type { ISecret, k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { PropsError } from '../api/errors';
import { checkByRules, group, type PropRules, required } from '../api/prop-rules';
import { number, orText, port, reference, size, text, textOrEmpty } from '../api/rules';
import { Backup } from './backup';
import { backup } from './backup-target';
import {
  CLOUD_NATIVE_RULES,
  type CloudNativeDatabaseProps,
  CloudNativePg,
  cloudNativePgPods,
  cloudNativePgSecrets,
} from './cloud-native-pg';
import {
  DATABASE_NAME,
  DATABASE_PORT,
  DATABASE_STORAGE,
  type DatabaseProps,
  migrateContainer,
  Postgres,
  type StatefulDatabaseProps,
} from './postgres';

const URL_KEY = 'url';
/** Key of a Secret with the CAs of the database, next to its URL (runtime/kubernetes/secrets.ts). */
const CA_KEY = 'ca.crt';

/** A key of a Secret in the namespace of the stack. */
export interface SecretKey {
  /** Name of the Secret. */
  readonly name: string;
  /** Key of the Secret. */
  readonly key: string;
}

export interface ExistingDatabaseProps {
  /** Key of the Secret with a URL like postgres://user:password@host:5432/database. @default url */
  readonly key?: string;
  /** Port in that URL, to which the NetworkPolicy of the controllers allows connections. @default 5432 */
  readonly port?: number;
  /**
   * Role that owns the tables and migrates them, other than the role of the URL. Only an init container of the controllers
   * gets its URL.
   * @default - the role of the URL owns the tables, and the controllers migrate them
   */
  readonly owner?: DatabaseOwnerProps;
}

export interface DatabaseOwnerProps {
  /** Secret in the namespace of the stack with the URL of the owner. */
  readonly secret: ISecret;
  /** Key of that Secret. @default url */
  readonly key?: string;
  /** Name of the role of the controllers, which exists already; the owner gives it the rights to read and write rows. */
  readonly runtimeRole: string;
}

const STATEFUL: PropRules<StatefulDatabaseProps> = {
  storage: size,
  storageClassName: textOrEmpty,
  image: text,
  replacesMajor: number,
  backup,
};
const OWNER: PropRules<DatabaseOwnerProps> = {
  secret: required(reference('Secret', { canBeLazy: true })),
  key: text,
  runtimeRole: required(text),
};
const EXISTING: PropRules<ExistingDatabaseProps> = { key: text, port, owner: group(OWNER) };

/** Postgres database with the tables of the queue. */
export abstract class Database {
  /** Deploys Postgres as part of the stack, with a volume, a generated password and a generated certificate. @throws PropsError for a wrong prop */
  static statefulSet(props: StatefulDatabaseProps = {}): Database {
    checkByRules('Database.statefulSet', props, STATEFUL);
    return new StatefulDatabase(props);
  }

  /**
   * Deploys a `Cluster` of the operator CloudNativePG, which must be installed: several instances with failover. The operator
   * makes password and certificates, and its user owns the tables.
   * @throws PropsError for a wrong prop
   */
  static cloudNativePg(props: CloudNativeDatabaseProps = {}): Database {
    checkByRules('Database.cloudNativePg', props, CLOUD_NATIVE_RULES);
    return new CloudNativeDatabase(props);
  }

  /**
   * Uses an existing Postgres over TLS. Its certificate must be valid for the host in the URL and signed by a CA of the
   * Secret's key `ca.crt`, or of the image if the Secret has no such key. `sslmode=disable` in the URL allows plain text.
   * @param secret Secret in the namespace of the stack, e.g. `Secret.fromSecretName(chart, 'db', 'fluxqueue-db')`
   * @param props key of the URL, or all props. @default url
   * @throws PropsError for no Secret or a wrong prop
   */
  static fromSecret(secret: ISecret, props: string | ExistingDatabaseProps = {}): Database {
    checkByRules(
      'Database.fromSecret',
      { secret, props },
      {
        secret: required(reference('Secret', { canBeLazy: true })),
        props: required(orText(group(EXISTING))),
      },
    );
    const { key = URL_KEY, port, owner } = typeof props === 'string' ? { key: props } : props;
    return new ExistingDatabase({ name: secret.name, key }, port, owner);
  }

  /** Key of a Secret with the URL of the database. */
  abstract readonly url: SecretKey;

  /** Port of the database. */
  abstract readonly port: number;

  /** Whether the stack deploys the pod of the database, which its props `pods` and `images` are for. */
  readonly isDeployed: boolean = false;

  /** Whether the stack has objects of the database. */
  readonly hasObjects: boolean = false;

  /** Whether the stack dumps the database. */
  readonly hasBackup: boolean = false;

  /** Whether another role than that of the controllers migrates the tables. */
  abstract readonly hasOwner: boolean;

  /** Size of the volume of an instance. @default - it is not a volume of the stack */
  readonly storage: Size | undefined = undefined;

  /** Name of a Secret with the CA of the database in its key ca.crt. @default - the Secret of the URL */
  readonly caSecret: string | undefined = undefined;

  /** NetworkPolicy of an operator's pods in the namespace of the stack. @default - there are none */
  readonly operated: ReturnType<typeof cloudNativePgPods> | undefined = undefined;

  /** Port of the store for dumps. @default - dumps stay in the cluster */
  readonly backupPort: number | undefined = undefined;

  /** Init containers of the controllers. */
  initContainers(_runtimeImage: string): k8s.Container[] {
    return [];
  }

  /** Adds the objects of the database to the stack. */
  abstract render(scope: Construct, props: DatabaseProps): void;
}

class ExistingDatabase extends Database {
  override readonly hasOwner: boolean;

  constructor(
    override readonly url: SecretKey,
    override readonly port: number = DATABASE_PORT,
    private readonly owner: DatabaseOwnerProps | undefined,
  ) {
    super();
    this.hasOwner = owner !== undefined;
  }

  override initContainers(runtimeImage: string): k8s.Container[] {
    if (this.owner === undefined) return [];
    const { secret, key = URL_KEY, runtimeRole } = this.owner;
    const from = (key: string, optional: boolean) => ({
      secretKeyRef: { name: secret.name, key, optional },
    });
    const env = [
      { name: 'DATABASE_URL', valueFrom: from(key, false) },
      { name: 'FLUXQUEUE_database_ca', valueFrom: from(CA_KEY, true) },
    ];
    return [{ ...migrateContainer(runtimeImage, runtimeRole), env }];
  }

  override render(): void {
    // An existing database needs no objects.
  }
}

class CloudNativeDatabase extends Database {
  override readonly url: SecretKey = { name: cloudNativePgSecrets.url, key: 'uri' };
  override readonly port = DATABASE_PORT;
  override readonly hasObjects = true;
  override readonly hasOwner = false;
  override readonly caSecret = cloudNativePgSecrets.ca;
  override readonly storage: Size;
  override readonly operated;

  /** @throws PropsError for a storage of size 0 */
  constructor(private readonly props: CloudNativeDatabaseProps) {
    super();
    checkStorage('Database.cloudNativePg.storage', props.storage);
    this.storage = props.storage ?? DATABASE_STORAGE;
    this.operated = cloudNativePgPods(props);
  }

  override render(scope: Construct, { namespace }: DatabaseProps): void {
    new CloudNativePg(scope, 'cloud-native-pg', { ...this.props, namespace });
  }
}

class StatefulDatabase extends Database {
  override readonly url: SecretKey = { name: DATABASE_NAME, key: URL_KEY };
  override readonly port = DATABASE_PORT;
  override readonly isDeployed = true;
  override readonly hasObjects = true;
  override readonly hasOwner = true;
  override readonly hasBackup: boolean;
  override readonly backupPort: number | undefined;
  override readonly storage: Size;

  /** @throws PropsError for a storage of size 0, or a major version that is not one */
  constructor(private readonly props: StatefulDatabaseProps) {
    super();
    const { storage, replacesMajor, backup } = props;
    checkStorage('Database.statefulSet.storage', storage);
    if (replacesMajor !== undefined && (!Number.isInteger(replacesMajor) || replacesMajor < 18))
      throw new PropsError(
        'Database.statefulSet.replacesMajor',
        'is not a major version that an earlier image of the stack had',
        replacesMajor,
        'give the number of the folder that the log of Postgres names, 18 or more',
      );
    this.storage = storage ?? DATABASE_STORAGE;
    this.hasBackup = backup !== undefined;
    this.backupPort = backup?.target?.port;
  }

  override render(scope: Construct, props: DatabaseProps): void {
    const { backup, image } = this.props;
    new Postgres(scope, 'postgres', { ...this.props, ...props });
    if (backup !== undefined)
      new Backup(scope, 'backup', { ...backup, ...props, ...(image === undefined ? {} : { image }) });
  }
}

function checkStorage(prop: string, storage: Size | undefined): void {
  if (storage === undefined || storage.toKibibytes({ rounding: SizeRoundingBehavior.FLOOR }) > 0) return;
  throw new PropsError(prop, 'must be greater than 0', storage.asString(), 'give Size.gibibytes(…)');
}
