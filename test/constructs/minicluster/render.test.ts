import { brokerSelector, objectNames, renderMiniCluster } from '../../../constructs/minicluster';
import { pod, render, WITH_SIDECAR, workload } from './rendered';

test('renders a minimal resource', () => {
  expect(
    renderMiniCluster({
      metadata: { name: 'hello' },
      spec: { containers: [{ image: 'app', command: 'hostname' }] },
    }),
  ).toMatchSnapshot();
});

test('renders the same manifests for every order of the entries of maps', () => {
  const a = { environment: { A: '1', B: '2' }, volumes: { a: { path: '/a' }, b: { path: '/b' } } };
  const b = { volumes: { b: { path: '/b' }, a: { path: '/a' } }, environment: { B: '2', A: '1' } };
  expect(JSON.stringify(render({}, a))).toBe(JSON.stringify(render({}, b)));
});

test('renders objects in the order in which they are applied, with namespace and labels', () => {
  const services = [{ image: 'db', name: 'db', ports: [5432] }];
  const objects = render({ containers: WITH_SIDECAR, services });
  expect(objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).toEqual([
    'ConfigMap/mc-config',
    'ConfigMap/mc-entrypoint',
    'Service/mc',
    'Service/mc-api',
    'Service/mc-db',
    'Deployment/mc-services',
    'Job/mc',
  ]);
  for (const { metadata } of objects) {
    expect(metadata.namespace).toBe('lab');
    expect(metadata.labels?.['flux-framework.org/minicluster']).toBe('mc');
  }
});

test('exports the names and the selector of its objects', () => {
  const resource = { metadata: { name: 'mc' }, spec: { containers: [{}], network: { headlessName: 'hl' } } };
  expect(objectNames(resource)).toMatchObject({ workload: 'mc', service: 'hl', certificate: 'mc-curve' });
  expect(workload().template.metadata.labels).toMatchObject(
    Object.fromEntries([brokerSelector(resource).split('=')]),
  );
});

test('uses the mount path in every file and container', () => {
  expect(JSON.stringify(render({ flux: { container: { mountPath: '/opt/mini' } } }))).not.toContain(
    '/mnt/flux',
  );
});

test('adds no init container and no volume at /opt/software when the image has Flux', () => {
  const { initContainers, volumes } = pod({ flux: { container: { disable: true } } });
  expect(initContainers).toBeUndefined();
  expect(volumes.map(({ name }) => name)).not.toContain('flux-software');
});
