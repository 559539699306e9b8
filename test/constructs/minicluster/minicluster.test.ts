import { ApiObject, App, Chart, Duration, JsonPatch, Testing, Yaml } from 'cdk8s';
import { ConfigMap, Secret, ServiceAccount } from 'cdk8s-plus-28';
import { FluxSetup } from '../../../constructs/fluxsetup/fluxsetup';
import { Certificate, MiniCluster, renderMiniCluster } from '../../../constructs/minicluster';

const CONTAINER = { image: 'app', command: 'run' };
const chartIn = (namespace?: string) =>
  new Chart(new App(), 'c', namespace === undefined ? {} : { namespace });

test('has the spec and the manifests of the resource', () => {
  const chart = chartIn('lab');
  const cluster = new MiniCluster(chart, 'mc', {
    size: 4,
    walltime: Duration.hours(1),
    container: CONTAINER,
  });
  const spec = { size: 4, walltime: '3600s', containers: [CONTAINER] };
  expect(cluster.resource).toEqual({ metadata: { name: 'mc', namespace: 'lab' }, spec });
  const rendered = renderMiniCluster(cluster.resource, { keygen: {} });
  expect(Testing.synth(chart)).toEqual(JSON.parse(JSON.stringify(rendered)));
});

test('has the name of its id unless the props have one', () => {
  const chart = chartIn();
  expect(new MiniCluster(chart, 'lammps', { container: CONTAINER }).name).toBe('lammps');
  expect(new MiniCluster(chart, 'Other', { name: 'other', container: CONTAINER }).name).toBe('other');
});

test('sets no namespace when neither chart nor props have one', () => {
  const chart = chartIn();
  new MiniCluster(chart, 'mc', { container: CONTAINER });
  for (const { metadata } of Testing.synth(chart)) expect(metadata).not.toHaveProperty('namespace');
});

test('adds the labels of the chart to every object without overriding its own', () => {
  const labels = { team: 'physics', 'app.kubernetes.io/name': 'x' };
  const chart = new Chart(new App(), 'c', { labels });
  new MiniCluster(chart, 'mc', { container: CONTAINER });
  for (const { metadata } of Testing.synth(chart))
    expect(metadata.labels).toMatchObject({ team: 'physics', 'app.kubernetes.io/name': 'mc' });
});

test('its objects take labels, annotations and JSON patches, like those of cdk8s', () => {
  const chart = chartIn('lab');
  const [changed, other] = ['mc', 'other'].map((id) => new MiniCluster(chart, id, { container: CONTAINER }));
  const before = Testing.synth(chart);
  for (const object of changed!.node.findAll().filter(ApiObject.isApiObject)) {
    object.metadata.addLabel('team', 'physics');
    object.metadata.addAnnotation('note', object.kind);
    object.addJsonPatch(JsonPatch.add('/metadata/annotations/late', 'yes'));
    if (object.kind === 'ConfigMap') object.addJsonPatch(JsonPatch.replace('/data', { a: 'b' }));
  }
  const after = Testing.synth(chart);
  const count = after.length / 2;
  expect(after.slice(count)).toEqual(before.slice(count));
  expect(other!.node.findAll()).toHaveLength(count + 1);
  after.slice(0, count).forEach((object, index) => {
    const { kind, metadata, ...rest } = before[index];
    const labels = { ...metadata.labels, team: 'physics' };
    const annotations = { note: kind, late: 'yes' };
    const data = kind === 'ConfigMap' ? { data: { a: 'b' } } : {};
    expect(object).toEqual({ kind, ...rest, ...data, metadata: { ...metadata, labels, annotations } });
  });
});

test('its manifests stay the same when a program only reads the metadata of its objects', () => {
  const chart = chartIn('lab');
  const props = {
    container: CONTAINER,
    scheduling: { priority: -3 },
    job: { labels: { z: '1', a: '2' } },
  };
  const clusters = [
    new MiniCluster(chart, 'mc', props),
    new MiniCluster(chart, 'l', { ...props, live: true }),
  ];
  const before = Yaml.stringify(...chart.toJson());
  for (const { node } of clusters)
    for (const object of node.findAll().filter(ApiObject.isApiObject))
      expect(object.metadata.name).toBe(object.name);
  expect(Yaml.stringify(...chart.toJson())).toBe(before);
});

test('its objects have the fields of an ApiObject and are written in the order of dependencies', () => {
  const chart = chartIn('lab');
  const cluster = new MiniCluster(chart, 'mc', { container: CONTAINER });
  const own = cluster.node.findAll().filter(ApiObject.isApiObject);
  expect(own.map((object) => [ApiObject.of(object) === object, object instanceof ApiObject])).toEqual(
    own.map(() => [true, true]),
  );
  for (const { apiVersion, apiGroup, kind, name, chart: ownChart, metadata } of own) {
    const of = new ApiObject(chart, `same-${kind}-${name}`, { apiVersion, kind, metadata: { name } });
    expect({ apiGroup, chart: ownChart, name: metadata.name, namespace: metadata.namespace }).toEqual({
      apiGroup: of.apiGroup,
      chart: of.chart,
      name: of.name,
      namespace: of.metadata.namespace,
    });
  }
  const first = new ApiObject(chart, 'first', { apiVersion: 'v1', kind: 'Secret' });
  for (const object of own) object.addDependency(first);
  const kinds = Testing.synth(chart).map(({ kind }) => kind);
  expect(kinds.indexOf('Secret')).toBeLessThan(kinds.indexOf('ConfigMap'));
});

test('live writes the resource itself, for the controller', () => {
  const chart = chartIn('lab');
  new MiniCluster(chart, 'mc', { live: true, cleanup: true, container: CONTAINER });
  expect(Testing.synth(chart)).toEqual([
    {
      apiVersion: 'flux-framework.org/v1alpha2',
      kind: 'MiniCluster',
      metadata: { name: 'mc', namespace: 'lab' },
      spec: { cleanup: true, containers: [CONTAINER] },
    },
  ]);
});

test('leaves the Secret of the certificate to others where its props say so', () => {
  const chart = chartIn('lab');
  const container = CONTAINER;
  const secret = Secret.fromSecretName(chart, 'secret', 'shared');
  new MiniCluster(chart, 'a', { container, certificate: Certificate.fromSecret(secret) });
  new MiniCluster(chart, 'b', { container, certificate: Certificate.ofCluster() });
  expect(Testing.synth(chart).map(({ kind }) => kind)).not.toContain('Secret');
});

test('Certificate.fromKeygen adds the objects that create the certificate', () => {
  const chart = chartIn();
  new MiniCluster(chart, 'mc', {
    container: CONTAINER,
    certificate: Certificate.fromKeygen({ image: 'rt:1' }),
  });
  const kinds = Testing.synth(chart).map(({ kind }) => kind);
  expect(kinds.slice(0, 5)).toEqual(['Secret', 'ServiceAccount', 'Role', 'RoleBinding', 'Job']);
});

test('the same program writes the same bytes, without YAML aliases', () => {
  const write = () => {
    const app = new App();
    const chart = new Chart(app, 'c');
    for (const id of ['a', 'b']) new MiniCluster(chart, id, { size: 3, container: CONTAINER });
    return app.synthYaml();
  };
  expect(write()).toBe(write());
  expect(write()).not.toMatch(/[&*]a\d/);
});

test('refers to objects of the same program by their names', () => {
  const chart = chartIn();
  const secret = new Secret(chart, 'secret', { metadata: { name: 'vault' } });
  const { resource } = new MiniCluster(chart, 'mc', {
    container: {
      ...CONTAINER,
      envFrom: [{ configMap: new ConfigMap(chart, 'map', { metadata: { name: 'site' } }) }],
    },
    queue: new FluxSetup(chart, 'night'),
    certificate: Certificate.fromSecret(secret),
    pod: { serviceAccount: new ServiceAccount(chart, 'account', { metadata: { name: 'runner' } }) },
  });
  expect(resource.spec).toMatchObject({
    containers: [{ envFrom: [{ configMapRef: { name: 'site' } }] }],
    queue: 'night',
    flux: { curveCertSecret: 'vault' },
    pod: { serviceAccountName: 'runner' },
  });
});
