import type { EnvValue } from 'cdk8s-plus-28';
import { PropsError } from '../api/errors';
import { isObject, type Rule } from '../api/prop-rules';
import { envName, text } from '../api/rules';
import type { MiniClusterContainerProps } from './container-props';
import { VOLUME } from './prop-rules';
import type { MiniClusterVolume } from './volume';

type EnvVar = NonNullable<MiniClusterContainerProps['env']>[number];

/** A container of a MiniCluster, to which volumes and environment variables can be added. */
export class MiniClusterContainer {
  /** @internal */
  constructor(
    private readonly path: string,
    private readonly read: () => MiniClusterContainerProps,
    private readonly write: (props: MiniClusterContainerProps) => void,
  ) {}

  /** The volumes of the container by name, as a copy. */
  get volumes(): Readonly<Record<string, MiniClusterVolume>> {
    return { ...this.read().volumes };
  }

  /**
   * Mounts a volume in this container.
   * @throws PropsError if the container has a volume of this name or at this path, or it is no MiniClusterVolume
   */
  addVolume(name: string, volume: MiniClusterVolume): void {
    this.check('volumes', name, text);
    const props = this.read();
    if (props.volumes?.[name] !== undefined)
      throw this.error(`volumes.${name}`, 'already exists', name, 'give the volume another name');
    this.check(`volumes.${name}`, volume, VOLUME);
    this.write({ ...props, volumes: { ...props.volumes, [name]: volume } });
  }

  /**
   * Sets an environment variable of this container.
   * @param value a text, or where its value comes from: `EnvValue.fromSecretValue(...)`, `EnvValue.fromFieldRef(...)`
   * @throws PropsError if the container has a variable of this name, or the value is none of these
   */
  addEnv(name: string, value: string | EnvValue): void {
    this.check('environment', name, envName);
    const props = this.read();
    if (hasEnv(props, name))
      throw this.error(`environment.${name}`, 'already exists', name, 'set the variable once');
    const known = typeof value === 'string' ? value : knownValue(value);
    if (known === undefined)
      throw this.error(
        `environment.${name}`,
        'must be a text or an EnvValue',
        value,
        'give one of them, not lazy',
      );
    if (typeof known === 'string')
      this.write({ ...props, environment: { ...props.environment, [name]: known } });
    else this.write({ ...props, env: [...(props.env ?? []), { name, valueFrom: known }] });
  }

  private check(field: string, value: unknown, rule: Rule): void {
    for (const { problem, remedy } of rule(value)) throw this.error(field, problem, value, remedy);
  }

  private error(field: string, message: string, value: unknown, remedy: string): PropsError {
    return new PropsError(`MiniCluster ${this.path}.${field}`, message, value, remedy);
  }
}

function hasEnv({ environment, secrets, env = [] }: MiniClusterContainerProps, name: string): boolean {
  return (
    environment?.[name] !== undefined ||
    secrets?.[name] !== undefined ||
    env.some((variable) => variable.name === name)
  );
}

/** The text of an EnvValue, or its source; undefined for anything else. A variable of the process that is not set is empty. */
function knownValue(given: unknown): string | NonNullable<EnvVar['valueFrom']> | undefined {
  if (!isObject(given) || !('valueFrom' in given)) return undefined;
  const { value = '', valueFrom } = given;
  if (isObject(valueFrom)) return sourceOf(valueFrom);
  return typeof value === 'string' ? value : undefined;
}

/** cdk8s-plus leaves undefined members in its sources, and the divisor of a resource in an object, which no manifest may have. */
function sourceOf(valueFrom: object): NonNullable<EnvVar['valueFrom']> {
  const plain = (key: string, value: unknown) => (key === 'divisor' && isObject(value) ? value.value : value);
  return JSON.parse(JSON.stringify(valueFrom, plain));
}
