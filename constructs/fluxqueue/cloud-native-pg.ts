/**
 * A `Cluster` of the operator CloudNativePG (cloudnative-pg.io). Names and fields are those of its API postgresql.cnpg.io/v1
 * (config/crd/bases/postgresql.cnpg.io_clusters.yaml of cloudnative-pg; test/constructs/fluxqueue/operators has the part that is used).
 * The operator makes the Secrets NAME-app (pkg/specs/secrets.go: key `uri`, host NAME-rw.NAMESPACE) and NAME-ca (`ca.crt`), and a
 * certificate that is valid for that host.
 */
import { ApiObject, type Size } from 'cdk8s';
import { Construct } from 'constructs';
import { PRIORITY_CLASS } from '../api/labels';
import { group, type PropRules } from '../api/prop-rules';
import { anyText, atLeast, mapOf, size, text, textOrEmpty } from '../api/rules';
import { type ComponentProps, KEEP, objectMetadata, Wave } from '../metadata';
import { RESOURCES_RULES } from './pods/checks';
import type { ContainerResources } from './pods/props';
import { DATABASE_STORAGE, OWNER } from './postgres';

const NAME = 'fluxqueue-database';

/** Secrets that the operator makes. */
export const cloudNativePgSecrets = { url: `${NAME}-app`, ca: `${NAME}-ca` } as const;

export interface CloudNativeDatabaseProps {
  /** Number of Postgres instances; a commit waits for one standby if there is one. @default 3 */
  readonly instances?: number;
  /** Size of the volume of each instance. @default Size.gibibytes(10) */
  readonly storage?: Size;
  /** Name of the StorageClass of the volumes. @default - the default StorageClass of the cluster */
  readonly storageClassName?: string;
  /** Image of Postgres for the operator, e.g. `ghcr.io/cloudnative-pg/postgresql:18`. @default - that of the operator */
  readonly image?: string;
  /** Resources of each instance. @default - 90m cpu and 256Mi of memory, at most 1Gi */
  readonly resources?: ContainerResources;
  /** Settings of Postgres, e.g. `{ shared_buffers: '512MB' }`. @default - those of the operator */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Namespace of the operator, from which NetworkPolicies admit connections. @default cnpg-system */
  readonly operatorNamespace?: string;
}

export const CLOUD_NATIVE_RULES: PropRules<CloudNativeDatabaseProps> = {
  instances: atLeast(1),
  storage: size,
  storageClassName: textOrEmpty,
  image: text,
  resources: group(RESOURCES_RULES),
  parameters: mapOf(anyText),
  operatorNamespace: text,
};

/** Pods of the database in the namespace of the stack, and the namespace of their operator. */
export function cloudNativePgPods({ operatorNamespace = 'cnpg-system' }: CloudNativeDatabaseProps) {
  // 8000 is the status of an instance, 9187 its metrics (pkg/management/url/url.go of cloudnative-pg).
  return {
    labels: { 'cnpg.io/cluster': NAME },
    operatorNamespace,
    statusPort: 8000,
    metricsPort: 9187,
  } as const;
}

export class CloudNativePg extends Construct {
  constructor(scope: Construct, id: string, props: CloudNativeDatabaseProps & ComponentProps) {
    super(scope, id);
    const { namespace, instances = 3, image } = props;
    const { storage = DATABASE_STORAGE, storageClassName } = props;
    new ApiObject(this, 'cluster', {
      apiVersion: 'postgresql.cnpg.io/v1',
      kind: 'Cluster',
      metadata: objectMetadata({
        name: NAME,
        namespace,
        component: 'database',
        wave: Wave.DATABASE,
        annotations: KEEP,
      }),
      spec: {
        instances,
        ...(image === undefined ? {} : { imageName: image }),
        bootstrap: { initdb: { database: OWNER, owner: OWNER, encoding: 'UTF8' } },
        storage: {
          size: storage.asString(),
          ...(storageClassName === undefined ? {} : { storageClass: storageClassName }),
        },
        priorityClassName: PRIORITY_CLASS,
        resources: amounts(props.resources),
        postgresql: {
          ...(props.parameters === undefined ? {} : { parameters: props.parameters }),
          ...synchronous(instances),
        },
      },
    });
  }
}

/** A grant that a client saw is not lost in a failover. With one standby its loss does not stop the queue. */
function synchronous(instances: number): object {
  if (instances === 1) return {};
  const dataDurability = instances === 2 ? 'preferred' : 'required';
  return { synchronous: { method: 'any', number: 1, dataDurability } };
}

function amounts({ requests, limits }: ContainerResources = {}): object {
  return {
    requests: plain({ cpu: '90m', memory: '256Mi', ...requests }),
    limits: plain({ memory: '1Gi', ...limits }),
  };
}

function plain(given: NonNullable<ContainerResources['requests']>): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(given).map(([name, amount]) => [
      name,
      typeof amount === 'object' ? (amount.value as string | number) : amount,
    ]),
  );
}
