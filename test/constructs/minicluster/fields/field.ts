/** One row of docs/minicluster-fields.md: a field of MiniCluster v1alpha2, its prop, and a value that shows its effect. */
import type {
  MiniClusterContainerProps,
  MiniClusterProps,
  MiniClusterSpec,
} from '../../../../constructs/minicluster';

type ContainerSpec = MiniClusterSpec['containers'][number];

export interface Field {
  /** Path from `spec`; `containers[].` stands for services too. */
  readonly path: string;
  /** Path of the prop. */
  readonly prop: string;
  readonly effect: string;
  /** The field with a value, in the resource and as props. */
  readonly spec?: Partial<MiniClusterSpec>;
  readonly container?: Partial<ContainerSpec>;
  readonly props?: Partial<MiniClusterProps>;
  readonly containerProps?: Partial<MiniClusterContainerProps>;
  /** Text that the manifests (as JSON) contain with this value, and not without it. */
  readonly shows: string;
  /** File with more tests of the field. */
  readonly more?: string;
}

/** Names of test files. */
export const START = 'shell/start.test.ts';
export const SUBMIT = 'shell/submit.test.ts';
export const BATCH = 'shell/batch.test.ts';
export const USER_SCRIPTS = 'shell/user-scripts.test.ts';
export const WORKER = 'shell/worker.test.ts';
export const SIDECAR = 'shell/sidecar.test.ts';
export const BROKER_CONFIG = 'broker-config.test.ts';
export const JOB = 'job.test.ts';
export const SERVICES = 'services.test.ts';
export const POD = 'pod.test.ts';
export const CERTIFICATE = 'certificate.test.ts';

/** `nested('a.b', 1)` is `{ a: { b: 1 } }`. */
function nested(path: string, value: unknown): Record<string, unknown> {
  return path
    .split('.')
    .reverse()
    .reduce<unknown>((inner, key) => ({ [key]: inner }), value) as Record<string, unknown>;
}

interface Row {
  readonly path: string;
  /** @default - the path */
  readonly prop?: string;
  readonly value: unknown;
  /** Value of the prop. @default - the value of the field */
  readonly propValue?: unknown;
  readonly effect: string;
  readonly shows: string;
  readonly more?: string;
}

/** A field of the cluster. */
export function field({ path, prop = path, value, propValue = value, effect, shows, more }: Row): Field {
  const props = nested(prop, propValue);
  return { path, prop, effect, spec: nested(path, value), props, shows, ...(more && { more }) };
}

/** A field of the container with the broker; `path` and `prop` are relative to the container. */
export function containerField(row: Row): Field {
  const { path, prop = path, value, propValue = value, effect, shows, more } = row;
  return {
    path: `containers[].${path}`,
    prop: `container.${prop}`,
    effect,
    container: nested(path, value),
    containerProps: nested(prop, propValue),
    shows,
    ...(more && { more }),
  };
}
