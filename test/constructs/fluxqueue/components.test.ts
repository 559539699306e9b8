import { App, Size } from 'cdk8s';
import { Secret } from 'cdk8s-plus-28';
import { Database, type FluxQueueProps } from '../../../constructs/fluxqueue/index';
import { DEFAULT_IMAGES, roleCommand } from '../../../constructs/images';
import { loadConfig } from '../../../runtime/config';
import {
  configurationOf,
  container,
  find,
  LARGEST_STACK,
  names,
  podTemplates,
  stackObjects,
} from '../manifests';

describe('the components of the stack', () => {
  const controller = (props: FluxQueueProps) => {
    const template = podTemplates(stackObjects(props)).find(({ owner }) => owner === 'fluxqueue-controller');
    if (template === undefined) throw new Error('no controller');
    return template;
  };

  /** The settings in the variables of the controller's container. */
  const databaseSecret = (props: FluxQueueProps) => {
    const { env = [] } = container(controller(props), 'controller');
    const given = env.filter(({ value }) => value !== undefined).map(({ name, value }) => [name, value]);
    return loadConfig(undefined, Object.fromEntries(given) as NodeJS.ProcessEnv).database.secret;
  };

  test('include two replicas of controller and webhook', () => {
    const objects = stackObjects();
    for (const name of ['fluxqueue-controller', 'fluxqueue-webhook']) {
      expect(find<{ spec: { replicas: number } }>(objects, 'Deployment', name).spec.replicas).toBe(2);
      expect(find(objects, 'PodDisruptionBudget', name).spec).toMatchObject({ maxUnavailable: 1 });
    }
  });

  test('connect controller and Fluxion by a socket in a shared volume', () => {
    const template = controller({});
    const mounts = ['controller', 'fluxion'].map((name) =>
      container(template, name).volumeMounts?.find((mount) => mount.name === 'fluxion'),
    );
    expect(mounts[0]).toEqual({ name: 'fluxion', mountPath: '/run/fluxion' });
    expect(mounts[1]).toEqual(mounts[0]);
    expect(template.spec.volumes).toContainEqual({ name: 'fluxion', emptyDir: { sizeLimit: '16Mi' } });
    const ports = ['controller', 'fluxion'].map(
      (name) => container(template, name).ports?.[0]?.containerPort,
    );
    expect(ports).toEqual([8080, 8081]);
  });

  test('include no Fluxion sidecar with the embedded matcher', () => {
    const template = controller({ fluxion: 'embedded' });
    expect(template.spec.containers.map(({ name }) => name)).toEqual(['controller']);
    expect(JSON.stringify(template.spec.volumes)).not.toContain('"fluxion"');
  });

  test('run the sidecar in the image of the runtime, because it serves the embedded matcher', () => {
    const imageOf = (props: FluxQueueProps) => container(controller(props), 'fluxion').image;
    expect(imageOf({})).toBe(DEFAULT_IMAGES.runtime);
    expect(imageOf({ runtimeImage: 'example.org/runtime' })).toBe('example.org/runtime');
    expect(imageOf({ fluxionEngine: 'library', runtimeImage: 'example.org/runtime' })).toBe(
      DEFAULT_IMAGES.fluxion,
    );
    for (const fluxionEngine of ['embedded', 'library'] as const)
      expect(imageOf({ fluxionEngine, fluxionImage: 'example.org/fluxion' })).toBe('example.org/fluxion');
  });

  test('use an existing database by its Secret and include none', () => {
    const database = Database.fromSecret(Secret.fromSecretName(new App(), 'db', 'team-db'), 'uri');
    const found = names(stackObjects({ database }));
    expect(found.filter((name) => name.includes('database'))).toEqual([]);
    expect(databaseSecret({ database })).toEqual({
      namespace: 'fluxqueue-system',
      name: 'team-db',
      key: 'uri',
    });
  });

  test('migrate an existing database as its owner in an init container, the only one that gets the URL of the owner', () => {
    const secret = (name: string) => Secret.fromSecretName(new App(), name, name);
    const owner = { secret: secret('team-owner'), runtimeRole: 'queue' };
    const props = { database: Database.fromSecret(secret('team-db'), { owner }) };
    const template = controller(props);
    const [migrate, ...others] = [...(template.spec.initContainers ?? []), ...template.spec.containers];
    expect(migrate?.command).toEqual(roleCommand('migrate', '--grant-to', 'queue'));
    expect(migrate?.env?.map(({ name, valueFrom }) => [name, valueFrom?.secretKeyRef])).toEqual([
      ['DATABASE_URL', { name: 'team-owner', key: 'url', optional: false }],
      ['FLUXQUEUE_database_ca', { name: 'team-owner', key: 'ca.crt', optional: true }],
    ]);
    expect(JSON.stringify(others)).not.toContain('team-owner');
    expect(JSON.stringify(find(stackObjects(props), 'Role', 'fluxqueue-controller'))).not.toContain('owner');
    expect(configurationOf(stackObjects(props)).database.migrate).toBe(false);
    const { database } = configurationOf(stackObjects({ database: Database.fromSecret(secret('team-db')) }));
    expect(database.migrate).toBe(true);
  });

  test('migrate their own database as its owner by a socket of its pod', () => {
    const objects = stackObjects();
    const template = podTemplates(objects).find(({ owner }) => owner === 'fluxqueue-database')!;
    const migrate = container(template, 'migrate');
    const url = new URL(migrate.env?.find(({ name }) => name === 'DATABASE_URL')?.value ?? '');
    const socket = migrate.volumeMounts?.find(({ mountPath }) => mountPath === decodeURIComponent(url.host));
    const postgres = container(template, 'postgres');
    expect(postgres.volumeMounts).toContainEqual(socket);
    const variable = (name: string) => postgres.env?.find((each) => each.name === name)?.value;
    expect(url.username).toBe(variable('POSTGRES_USER'));
    const [, client = ''] =
      /--url (\S+)/.exec(container(template, 'password').command?.join(' ') ?? '') ?? [];
    expect(new URL(client).username).toBe(variable('RUNTIME_ROLE'));
    expect(new URL(client).searchParams.get('sslmode')).toBe('verify-full');
    expect(migrate.command).toContain(variable('RUNTIME_ROLE'));
  });

  test('include a database that gets its credentials inside the cluster only', () => {
    const database = Database.statefulSet({ storage: Size.gibibytes(40), storageClassName: 'fast' });
    const objects = stackObjects({ database });
    const template = podTemplates(objects).find(({ owner }) => owner === 'fluxqueue-database');
    if (template === undefined) throw new Error('no database');
    const folder = container(template, 'password').command?.at(-1);
    expect(container(template, 'postgres').env).toContainEqual({ name: 'CREDENTIALS', value: folder });
    const claim = find(objects, 'PersistentVolumeClaim', 'data-fluxqueue-database-0');
    expect(claim.spec).toMatchObject({
      storageClassName: 'fast',
      resources: { requests: { storage: '40Gi' } },
    });
    expect(names(objects)).toContain(`Secret/${databaseSecret({})?.name}`);
  });

  test('start a controller before the Secret of the database has a value, because the kubelet waits up to 15 s for it', () => {
    const { env = [] } = container(controller({}), 'controller');
    expect(env.filter(({ valueFrom }) => valueFrom?.secretKeyRef !== undefined)).toEqual([]);
  });

  test('connect the controller to the database by an address that stays when the pod moves', () => {
    const objects = stackObjects();
    const template = podTemplates(objects).find(({ owner }) => owner === 'fluxqueue-database');
    if (template === undefined) throw new Error('no database');
    const url = new URL(container(template, 'password').command?.find((arg) => arg.includes('://')) ?? '');
    const [name = ''] = url.hostname.split('.');
    const { spec } = find<{ spec: Record<string, unknown> }>(objects, 'Service', name);
    expect(spec).not.toHaveProperty('clusterIP');
    expect(spec).toMatchObject({ publishNotReadyAddresses: true });
    expect(spec.selector).toEqual(
      find<{ spec: { selector: { matchLabels: unknown } } }>(objects, 'StatefulSet', 'fluxqueue-database')
        .spec.selector.matchLabels,
    );
  });

  test('keep the immutable fields of the first version of the database, so that an upgrade applies', () => {
    const objects = stackObjects();
    expect(find(objects, 'Service', 'fluxqueue-database').spec).toMatchObject({ clusterIP: 'None' });
    expect(find(objects, 'StatefulSet', 'fluxqueue-database').spec).toMatchObject({
      serviceName: 'fluxqueue-database',
      selector: {
        matchLabels: { 'app.kubernetes.io/name': 'fluxqueue', 'app.kubernetes.io/component': 'database' },
      },
    });
  });

  test('include a scheduler of the version of the cluster, to which admission assigns pods', () => {
    const objects = stackObjects({ kubernetesVersion: '1.35.2', scheduler: true });
    const template = podTemplates(objects).find(({ owner }) => owner === 'fluxqueue-scheduler');
    expect(template?.spec.containers[0]?.image).toBe('registry.k8s.io/kube-scheduler:v1.35.2');
    expect(configurationOf(objects).webhook.schedulerName).toBe('fluxqueue-scheduler');
    const policies = stackObjects(LARGEST_STACK);
    expect(JSON.stringify(find(policies, 'MutatingAdmissionPolicy', 'fluxqueue-pods'))).toContain(
      'fluxqueue-scheduler',
    );
  });

  test('leave schedulerName unchanged without a scheduler', () => {
    const objects = stackObjects({ kubernetesVersion: '1.37.1' });
    expect(names(objects).filter((name) => name.includes('scheduler'))).toEqual([]);
    expect(configurationOf(objects).webhook.schedulerName).toBeUndefined();
    expect(JSON.stringify(find(objects, 'MutatingAdmissionPolicy', 'fluxqueue-pods'))).not.toContain(
      'fluxqueue-scheduler',
    );
  });

  test('include no pods with an external runtime', () => {
    const objects = stackObjects({ externalRuntime: {}, admission: 'policies' });
    expect(podTemplates(objects)).toEqual([]);
    expect(names(objects)).toContain('CustomResourceDefinition/fluxjobs.jobs.converged-computing.org');
  });
});
