import { createHash } from 'node:crypto';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { stringify } from 'yaml';
import { objectMetadata, type PartProps, Wave } from '../metadata';

const NAME = 'fluxqueue-config';
const FILE = 'config.yaml';
const FOLDER = '/etc/fluxqueue';

/** Where every role finds its settings. */
export const CONFIG_FILE = `${FOLDER}/${FILE}`;

export interface ConfigurationProps extends PartProps {
  /** What runtime/config.ts reads; only what differs from its defaults. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** The ConfigMap that all roles of the runtime read. */
export class Configuration extends Construct {
  readonly volume: k8s.Volume = { name: 'config', configMap: { name: NAME } };
  readonly mount: k8s.VolumeMount = { name: 'config', mountPath: FOLDER, readOnly: true };
  /** For pod templates: roles read their settings at start, so new settings must make new pods. */
  readonly annotations: Record<string, string>;

  constructor(scope: Construct, id: string, { namespace, settings }: ConfigurationProps) {
    super(scope, id);
    const text = stringify(settings);
    new k8s.KubeConfigMap(this, 'config', {
      metadata: objectMetadata({ name: NAME, namespace, component: 'base', wave: Wave.RIGHTS }),
      data: { [FILE]: text },
    });
    this.annotations = {
      'fluxqueue/config-hash': createHash('sha256').update(text).digest('hex').slice(0, 16),
    };
  }
}
