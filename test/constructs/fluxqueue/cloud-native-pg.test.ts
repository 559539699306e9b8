import { Size } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import { Database, type FluxQueueProps } from '../../../constructs/fluxqueue/index';
import { loadConfig } from '../../../runtime/config';
import { FluxqError } from '../../../runtime/errors';
import { readDatabaseAccess } from '../../../runtime/kubernetes/secrets';
import type { KubeObject } from '../../cluster/api';
import { container, find, names, podTemplates, stackObjects } from '../manifests';

const objectsOf = (props: Parameters<typeof Database.cloudNativePg>[0], more: FluxQueueProps = {}) =>
  stackObjects({ ...more, database: Database.cloudNativePg(props) });
const specOf = (props: Parameters<typeof Database.cloudNativePg>[0]) =>
  find(objectsOf(props), 'Cluster', 'fluxqueue-database').spec;

describe('a database of CloudNativePG', () => {
  test('is a Cluster that the stack keeps, instead of a StatefulSet', () => {
    const objects = objectsOf({});
    expect(names(objects).filter((name) => /StatefulSet|Secret\/fluxqueue-database/.test(name))).toEqual([]);
    const { metadata, spec } = find(objects, 'Cluster', 'fluxqueue-database');
    expect(metadata.annotations).toMatchObject({ 'kustomize.toolkit.fluxcd.io/prune': 'disabled' });
    expect(spec).toMatchObject({
      instances: 3,
      bootstrap: { initdb: { database: 'fluxqueue', owner: 'fluxqueue' } },
      postgresql: { synchronous: { method: 'any', number: 1, dataDurability: 'required' } },
    });
  });

  test('waits for a standby only if there is one that can be lost', () => {
    expect(specOf({ instances: 1 })).toMatchObject({ postgresql: {} });
    expect(specOf({ instances: 2 })).toMatchObject({
      postgresql: { synchronous: { dataDurability: 'preferred' } },
    });
  });

  test('has the settings of its props', () => {
    expect(
      specOf({
        instances: 1,
        storage: Size.gibibytes(40),
        storageClassName: 'fast',
        image: 'ghcr.io/cloudnative-pg/postgresql:18',
        resources: { limits: { memory: '4Gi' } },
        parameters: { shared_buffers: '1GB' },
      }),
    ).toMatchObject({
      imageName: 'ghcr.io/cloudnative-pg/postgresql:18',
      storage: { size: '40Gi', storageClass: 'fast' },
      resources: { requests: { memory: '256Mi' }, limits: { memory: '4Gi' } },
      postgresql: { parameters: { shared_buffers: '1GB' } },
    });
    expect(() => objectsOf({ instances: 0 })).toThrow('Database.cloudNativePg.instances');
    expect(() => objectsOf({ storage: Size.kibibytes(0) })).toThrow('Database.cloudNativePg.storage');
    expect(() => objectsOf({}, { pods: { database: {} } })).toThrow("is for the stack's own database");
  });

  test('is reached by the controllers, its operator and its other instances only', () => {
    const { spec } = find<{ spec: k8s.NetworkPolicySpec }>(
      objectsOf({}),
      'NetworkPolicy',
      'fluxqueue-database',
    );
    expect(spec.podSelector).toEqual({ matchLabels: { 'cnpg.io/cluster': 'fluxqueue-database' } });
    const from = JSON.stringify(spec.ingress);
    expect(from).toContain('"kubernetes.io/metadata.name":"cnpg-system"');
    expect(JSON.stringify(objectsOf({ operatorNamespace: 'pg' }))).toContain(
      '"kubernetes.io/metadata.name":"pg"',
    );
  });
});

describe('the access to a database of CloudNativePG', () => {
  const objects = objectsOf({});
  const template = podTemplates(objects).find(({ owner }) => owner === 'fluxqueue-controller')!;
  const { env = [] } = container(template, 'controller');
  const given = env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
  const { secret } = loadConfig(undefined, Object.fromEntries(given)).database;

  test('is in the Secrets of the operator, which the controller may read', () => {
    expect(secret).toEqual({
      namespace: 'fluxqueue-system',
      name: 'fluxqueue-database-app',
      key: 'uri',
      caName: 'fluxqueue-database-ca',
    });
    const role = objects.find(
      ({ kind, metadata }) => kind === 'Role' && metadata.name === 'fluxqueue-controller',
    ) as KubeObject & { rules: k8s.PolicyRule[] };
    const named = role.rules.filter(({ resources }) => resources?.includes('secrets'));
    expect(named.map(({ resourceNames, verbs }) => [resourceNames, verbs])).toEqual([
      [['fluxqueue-database-app'], ['get']],
      [['fluxqueue-database-ca'], ['get']],
    ]);
  });

  test('is the URL of one and the CA of the other', async () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const secrets: Record<string, object> = {
      'fluxqueue-database-app': { data: { uri: base64('postgresql://fluxqueue:pw@rw:5432/fluxqueue') } },
      'fluxqueue-database-ca': { data: { 'ca.crt': base64('PEM'), 'ca.key': base64('key') } },
    };
    const get = async <T>(path: string) => secrets[path.split('/').at(-1)!] as T;
    expect(await readDatabaseAccess({ get }, secret!)).toEqual({
      url: 'postgresql://fluxqueue:pw@rw:5432/fluxqueue',
      ca: 'PEM',
    });
    secrets['fluxqueue-database-app'] = {};
    await expect(readDatabaseAccess({ get }, secret!)).rejects.toBeInstanceOf(FluxqError);
  });
});
