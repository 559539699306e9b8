import { ApiObject, App, Chart, Duration, JsonPatch, Testing, Yaml } from 'cdk8s';
import { ConfigMap, Secret, ServiceAccount } from 'cdk8s-plus-28';
import { Certificate, MiniCluster, renderMiniCluster } from '../../../constructs/minicluster';

const CONTAINER = { image: 'app', command: 'run' };
const chart = (namespace?: string) => new Chart(new App(), 'c', namespace === undefined ? {} : { namespace });

test('is what the resource is', () => {
  const inside = chart('lab');
  const cluster = new MiniCluster(inside, 'mc', {
    size: 4,
    walltime: Duration.hours(1),
    container: CONTAINER,
  });
  const spec = { size: 4, walltime: '3600s', containers: [CONTAINER] };
  expect(cluster.resource).toEqual({ metadata: { name: 'mc', namespace: 'lab' }, spec });
  expect(Testing.synth(inside)).toEqual(JSON.parse(JSON.stringify(renderMiniCluster(cluster.resource))));
});

test('is called like its id, or as it is told', () => {
  const inside = chart();
  expect(new MiniCluster(inside, 'lammps', { container: CONTAINER }).name).toBe('lammps');
  expect(new MiniCluster(inside, 'Other', { name: 'other', container: CONTAINER }).name).toBe('other');
});

test('without a namespace its manifests have none', () => {
  const inside = chart();
  new MiniCluster(inside, 'mc', { container: CONTAINER });
  for (const { metadata } of Testing.synth(inside)) expect(metadata).not.toHaveProperty('namespace');
});

test('labels of the chart are on every object and take none of ours away', () => {
  const labels = { team: 'physics', 'app.kubernetes.io/name': 'x' };
  const inside = new Chart(new App(), 'c', { labels });
  new MiniCluster(inside, 'mc', { container: CONTAINER });
  for (const { metadata } of Testing.synth(inside))
    expect(metadata.labels).toMatchObject({ team: 'physics', 'app.kubernetes.io/name': 'mc' });
});

test('what others add to its objects, as to any of cdk8s', () => {
  const inside = chart('lab');
  const [changed, other] = ['mc', 'other'].map((id) => new MiniCluster(inside, id, { container: CONTAINER }));
  const before = Testing.synth(inside);
  for (const object of changed!.node.findAll().filter(ApiObject.isApiObject)) {
    object.metadata.addLabel('team', 'physics');
    object.metadata.addAnnotation('note', object.kind);
    object.addJsonPatch(JsonPatch.add('/metadata/annotations/late', 'yes'));
    if (object.kind === 'ConfigMap') object.addJsonPatch(JsonPatch.replace('/data', { a: 'b' }));
  }
  const after = Testing.synth(inside);
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

test('who only looks at them changes nothing', () => {
  const inside = chart('lab');
  const props = { container: CONTAINER, priority: -3, jobLabels: { z: '1', a: '2' } };
  const clusters = [
    new MiniCluster(inside, 'mc', props),
    new MiniCluster(inside, 'l', { ...props, live: true }),
  ];
  const before = Yaml.stringify(...inside.toJson());
  for (const { node } of clusters)
    for (const object of node.findAll().filter(ApiObject.isApiObject))
      expect(object.metadata.name).toBe(object.name);
  expect(Yaml.stringify(...inside.toJson())).toBe(before);
});

test('its objects say what an ApiObject of cdk8s says, and come in the order of dependencies', () => {
  const inside = chart('lab');
  const cluster = new MiniCluster(inside, 'mc', { container: CONTAINER });
  const own = cluster.node.findAll().filter(ApiObject.isApiObject);
  expect(own.map((object) => [ApiObject.of(object) === object, object instanceof ApiObject])).toEqual(
    own.map(() => [true, true]),
  );
  for (const { apiVersion, apiGroup, kind, name, chart, metadata } of own) {
    const of = new ApiObject(inside, `same-${kind}-${name}`, { apiVersion, kind, metadata: { name } });
    expect({ apiGroup, chart, name: metadata.name, namespace: metadata.namespace }).toEqual({
      apiGroup: of.apiGroup,
      chart: of.chart,
      name: of.name,
      namespace: of.metadata.namespace,
    });
  }
  const first = new ApiObject(inside, 'first', { apiVersion: 'v1', kind: 'Secret' });
  for (const object of own) object.addDependency(first);
  const kinds = Testing.synth(inside).map(({ kind }) => kind);
  expect(kinds.indexOf('Secret')).toBeLessThan(kinds.indexOf('ConfigMap'));
});

test('live: the resource itself, for the controller', () => {
  const inside = chart('lab');
  new MiniCluster(inside, 'mc', { live: true, cleanup: true, container: CONTAINER });
  expect(Testing.synth(inside)).toEqual([
    {
      apiVersion: 'flux-framework.org/v1alpha2',
      kind: 'MiniCluster',
      metadata: { name: 'mc', namespace: 'lab' },
      spec: { cleanup: true, containers: [CONTAINER] },
    },
  ]);
});

test('a certificate of its own making needs no runtime', () => {
  const inside = chart();
  new MiniCluster(inside, 'mc', {
    container: CONTAINER,
    certificate: Certificate.fromKeygen({ image: 'rt:1' }),
  });
  const kinds = Testing.synth(inside).map(({ kind }) => kind);
  expect(kinds.slice(0, 5)).toEqual(['Secret', 'ServiceAccount', 'Role', 'RoleBinding', 'Job']);
});

test('the same program writes the same bytes', () => {
  const write = () => {
    const app = new App();
    const inside = new Chart(app, 'c');
    for (const id of ['a', 'b']) new MiniCluster(inside, id, { size: 3, container: CONTAINER });
    return app.synthYaml();
  };
  expect(write()).toBe(write());
  expect(write()).not.toMatch(/[&*]a\d/);
});

test('names what the same program makes', () => {
  const inside = chart();
  const secret = new Secret(inside, 'secret', { metadata: { name: 'vault' } });
  const { resource } = new MiniCluster(inside, 'mc', {
    container: {
      ...CONTAINER,
      envFrom: [{ configMap: new ConfigMap(inside, 'map', { metadata: { name: 'site' } }) }],
    },
    certificate: Certificate.fromSecret(secret),
    serviceAccount: new ServiceAccount(inside, 'account', { metadata: { name: 'runner' } }),
  });
  expect(resource.spec).toMatchObject({
    containers: [{ envFrom: [{ configMapRef: { name: 'site' } }] }],
    flux: { curveCertSecret: 'vault' },
    pod: { serviceAccountName: 'runner' },
  });
});
