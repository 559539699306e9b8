/** The read API: an APIService of the apiserver, and the pods of the role `reader` that answer it (docs/decisions/0042-read-api.md). */
import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import {
  READ_API_SERVICE,
  READ_GROUP,
  READ_VERSION,
  READER_SECRET,
  READER_SERVICE,
  READER_SERVICE_ACCOUNT,
} from '../api/labels';
import { KubeObject } from '../kube-object';
import { type ComponentProps, KEEP, objectMetadata, Wave } from '../metadata';
import type { ExternalReader } from './admission/form';
import type { Configuration } from './configuration';
import { databaseVariables } from './controller';
import type { Database } from './database';
import { API_ACCESS_MOUNT, API_ACCESS_VOLUME } from './pod';
import type { Pods } from './pods/pods';
import { addServer } from './server';

export const READER_PORT = 9445;

export interface ReaderProps extends ComponentProps {
  readonly image: string;
  readonly pods: Pods;
  readonly configuration: Configuration;
  readonly database: Database;
}

/** Deployment of the reader, with its Service. */
export class Reader extends Construct {
  constructor(scope: Construct, id: string, props: ReaderProps) {
    super(scope, id);
    const { namespace, image, pods, configuration, database } = props;
    addServer(this, {
      component: 'reader',
      name: READER_SERVICE,
      serviceAccountName: READER_SERVICE_ACCOUNT,
      namespace,
      image,
      pods,
      configuration,
      port: READER_PORT,
      resources: { cpu: '25m', memory: '128Mi', memoryLimit: '1Gi' },
      env: databaseVariables(namespace, database),
      volume: API_ACCESS_VOLUME,
      mount: API_ACCESS_MOUNT,
    });
  }
}

/** The reader of a runtime outside the cluster: its Service is another name of its host. */
export class OutsideReader extends Construct {
  constructor(scope: Construct, id: string, { namespace, host }: ComponentProps & ExternalReader) {
    super(scope, id);
    new KubeObject(this, 'service', k8s.KubeService, {
      metadata: objectMetadata({
        name: READER_SERVICE,
        namespace,
        component: 'reader',
        wave: Wave.RUNTIME,
      }),
      spec: { type: 'ExternalName', externalName: host },
    });
  }
}

export interface ReadApiProps extends ComponentProps {
  /** Port of the Service. @default 443 */
  readonly port?: number;
}

/**
 * Registers the reader with the apiserver, and the Secret of its certificate. The reader writes its CA to `spec.caBundle`,
 * which is not in the manifest, so that neither server-side apply nor an engine of GitOps takes it away.
 */
export class ReadApi extends Construct {
  constructor(scope: Construct, id: string, { namespace, port = 443 }: ReadApiProps) {
    super(scope, id);
    new KubeObject(this, 'certificate', k8s.KubeSecret, {
      metadata: objectMetadata({
        name: READER_SECRET,
        namespace,
        component: 'reader',
        wave: Wave.RIGHTS,
        annotations: KEEP,
      }),
      type: 'Opaque',
    });
    new ApiObject(this, 'api', {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: objectMetadata({
        name: READ_API_SERVICE,
        component: 'reader',
        // While no pod answers, namespaces are not deleted.
        wave: Wave.ADMISSION,
      }),
      spec: {
        group: READ_GROUP,
        version: READ_VERSION,
        groupPriorityMinimum: 1000,
        versionPriority: 10,
        service: { name: READER_SERVICE, namespace, port },
      },
    });
  }
}
