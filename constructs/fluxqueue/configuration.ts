import { createHash } from 'node:crypto';
import { Yaml } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { KubeObject } from '../kube-object';
import { whenKnown } from '../lazy';
import { type ComponentProps, objectMetadata, Wave } from '../metadata';

const NAME = 'fluxqueue-config';
const FILE = 'config.yaml';
const FOLDER = '/etc/fluxqueue';

/** Path of the configuration file of every role. */
export const CONFIG_FILE = `${FOLDER}/${FILE}`;

export interface ConfigurationProps extends ComponentProps {
  /** The configuration that runtime/config.ts parses; it can be lazy. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** ConfigMap with the configuration of all roles of the runtime. */
export class Configuration extends Construct {
  readonly volume: k8s.Volume = { name: 'config', configMap: { name: NAME } };
  readonly mount: k8s.VolumeMount = { name: 'config', mountPath: FOLDER, readOnly: true };
  /** Annotations of pod templates: roles read the file once at their start, so a change must replace the pods. */
  readonly annotations: Record<string, string>;

  constructor(scope: Construct, id: string, { namespace, settings }: ConfigurationProps) {
    super(scope, id);
    const text = whenKnown(settings, (known) => Yaml.stringify(known));
    new KubeObject(this, 'config', k8s.KubeConfigMap, {
      metadata: objectMetadata({ name: NAME, namespace, component: 'base', wave: Wave.RIGHTS }),
      data: { [FILE]: text },
    });
    this.annotations = {
      'fluxqueue/config-hash': whenKnown(text, (known) =>
        createHash('sha256').update(known).digest('hex').slice(0, 16),
      ),
    };
  }
}
