import type { EnvValue } from 'cdk8s-plus-28';
import { PropsError } from '../api/errors';
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
    const props = this.read();
    if (props.volumes?.[name] !== undefined)
      throw this.error(`volumes.${name}`, 'already exists', name, 'give the volume another name');
    for (const { problem, remedy } of VOLUME(volume))
      throw this.error(`volumes.${name}`, problem, volume, remedy);
    this.write({ ...props, volumes: { ...props.volumes, [name]: volume } });
  }

  /**
   * Sets an environment variable of this container.
   * @param value a text, or where its value comes from: `EnvValue.fromSecretValue(...)`, `EnvValue.fromFieldRef(...)`
   * @throws PropsError if the container has a variable of this name, or the value is none of these
   */
  addEnv(name: string, value: string | EnvValue): void {
    const props = this.read();
    if (hasEnv(props, name))
      throw this.error(`environment.${name}`, 'already exists', name, 'set the variable once');
    if (typeof value !== 'string' && typeof value?.valueFrom !== 'object' && typeof value?.value !== 'string')
      throw this.error(`environment.${name}`, 'must be a text or an EnvValue', value, 'give one of them');
    const text = typeof value === 'string' ? value : (value.value as string | undefined);
    if (text !== undefined) this.write({ ...props, environment: { ...props.environment, [name]: text } });
    else this.write({ ...props, env: [...(props.env ?? []), { name, valueFrom: sourceOf(value) }] });
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

/** cdk8s-plus leaves undefined members in its sources, which no manifest may have. */
function sourceOf(value: string | EnvValue): NonNullable<EnvVar['valueFrom']> {
  return JSON.parse(JSON.stringify((value as EnvValue).valueFrom));
}
