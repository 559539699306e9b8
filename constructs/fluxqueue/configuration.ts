/**
 * Files that pods of the stack read. Each is in a ConfigMap whose name has a hash of its content, so that a pod template and its file
 * belong together: a changed file replaces the pods, and pods of another version, or of a ReplicaSet that `kubectl rollout undo`
 * goes back to, still have their own.
 */
import { createHash } from 'node:crypto';
import { Yaml } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { CONFIG_FILE_NAME } from '../api/labels';
import { KubeObject } from '../kube-object';
import { whenKnown } from '../lazy';
import { type Component, type ComponentProps, KEEP_OLD, objectMetadata, Wave } from '../metadata';

const FOLDER = '/etc/fluxqueue';

/** Path of the configuration file of every role. */
export const CONFIG_FILE = `${FOLDER}/${CONFIG_FILE_NAME}`;

export interface ConfigurationFileProps extends ComponentProps {
  /** Start of the name of the ConfigMap. */
  readonly prefix: string;
  readonly component: Component;
  /** Folder of the file in the container. */
  readonly folder: string;
  /** Content of the file, which becomes YAML; it can be lazy. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** One YAML file in a ConfigMap, with its volume and mount. */
export class ConfigurationFile extends Construct {
  readonly volume: k8s.Volume;
  readonly mount: k8s.VolumeMount;

  constructor(scope: Construct, id: string, props: ConfigurationFileProps) {
    super(scope, id);
    const { prefix, namespace, component, folder, settings } = props;
    const text = whenKnown(settings, (known) => Yaml.stringify(known));
    const name = whenKnown(text, (known) => `${prefix}-${hash(known)}`);
    new KubeObject(this, 'config', k8s.KubeConfigMap, {
      metadata: {
        ...objectMetadata({ name: prefix, namespace, component, wave: Wave.RIGHTS, annotations: KEEP_OLD }),
        name,
      },
      // Another content has another name. The kubelet also keeps what is immutable for the pods of a node that use it.
      immutable: true,
      data: { [CONFIG_FILE_NAME]: text },
    });
    this.volume = { name: 'config', configMap: { name } };
    this.mount = { name: 'config', mountPath: folder, readOnly: true };
  }
}

/** The configuration of all roles of the runtime, which runtime/config.ts parses. */
export class Configuration extends ConfigurationFile {
  constructor(
    scope: Construct,
    id: string,
    props: ComponentProps & Pick<ConfigurationFileProps, 'settings'>,
  ) {
    super(scope, id, { ...props, prefix: 'fluxqueue-config', component: 'base', folder: FOLDER });
  }
}

/** The part of a name that is another one for every other content. */
export function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
