/** The stack in apps of users: where its objects are, how they are overridden, and in which order they are written. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiObject, App, Chart, JsonPatch, Testing } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { defaultStack, FluxQueue, FluxSetup } from '../../../constructs/fluxqueue/index';
import type { KubeObject } from '../../cluster/api';
import { find, LARGEST_STACK, names, stackObjects } from '../manifests';

const objectsOf = (app: App) => app.charts.flatMap((chart) => Testing.synth(chart) as KubeObject[]);
const apiObjects = (construct: Construct) => construct.node.findAll().filter(ApiObject.isApiObject);

/** The names of the files in order; the number that cdk8s adds is left out. */
function files(app: App): string[] {
  app.synth();
  const written = readdirSync(app.outdir).sort();
  return written.map((file) => file.replace(/^\d{4}-/, '').replace('.k8s.yaml', ''));
}

describe('the objects of the stack', () => {
  test.each([
    ['an app', (app: App) => app],
    ['a chart', (app: App) => new Chart(app, 'platform')],
    ['a construct', (app: App) => new Construct(app, 'clusters')],
  ])('are found under the construct in %s', (_, scope) => {
    const app = new App();
    const stack = defaultStack(scope(app) as App, LARGEST_STACK);
    expect(apiObjects(stack).map(({ kind, name }) => `${kind}/${name}`)).toEqual(names(objectsOf(app)));
    expect(names(objectsOf(app))).toEqual(names(stackObjects(LARGEST_STACK)));
  });

  test.each(['queue', 'Batch_Queue', 'a'.repeat(80)])('have the same names with the id %s', (id) => {
    const app = new App();
    new FluxQueue(new Construct(app, 'deep'), id, LARGEST_STACK);
    expect(objectsOf(app)).toEqual(stackObjects(LARGEST_STACK));
  });

  test('take patches in the form of the manifests', () => {
    const app = new App();
    const stack = defaultStack(app);
    const deployment = apiObjects(stack).find(
      ({ name, kind }) => `${kind}/${name}` === 'Deployment/fluxqueue-controller',
    );
    deployment?.addJsonPatch(
      JsonPatch.replace('/spec/template/spec/containers/0/resources/limits/memory', '8Gi'),
      JsonPatch.add('/spec/template/spec/containers/0/resources/limits/example.com~1fpga', 2),
      JsonPatch.add('/spec/template/spec/hostUsers', false),
      JsonPatch.add('/spec/fieldOfTheFuture', 'yes'),
    );
    const { spec } = find<{ spec: { template: { spec: k8s.PodSpec } } }>(
      objectsOf(app),
      'Deployment',
      'fluxqueue-controller',
    );
    expect(spec).toMatchObject({ fieldOfTheFuture: 'yes', template: { spec: { hostUsers: false } } });
    expect(spec.template.spec.containers[0]?.resources?.limits).toEqual({
      memory: '8Gi',
      'example.com/fpga': 2,
    });
  });

  test('can all be patched', () => {
    const app = new App();
    for (const object of apiObjects(defaultStack(app, LARGEST_STACK)))
      object.addJsonPatch(JsonPatch.add('/patched', { by: ['a', 'user'] }));
    for (const object of objectsOf(app)) expect(object).toMatchObject({ patched: { by: ['a', 'user'] } });
  });

  test('take patches as a FluxSetup does', () => {
    const chart = new Chart(new App(), 'team', { namespace: 'lab' });
    const queue = new FluxSetup(chart, 'default', { policy: 'easy' });
    ApiObject.of(queue).addJsonPatch(
      JsonPatch.add('/spec/quota', { cores: '64' }),
      JsonPatch.add('/spec/later', 1),
    );
    expect(Testing.synth(chart)).toMatchObject([
      { spec: { policy: 'easy', quota: { cores: '64' }, later: 1 } },
    ]);
  });

  test('report a patch that does not fit', () => {
    const app = new App();
    apiObjects(defaultStack(app))[0]?.addJsonPatch(JsonPatch.add('/no/such/parent', 1));
    expect(() => objectsOf(app)).toThrow('Namespace fluxqueue-system (fluxqueue-0-base/base/namespace)');
  });
});

describe('the order of the files', () => {
  const LAYERS = [
    '0-base',
    '1-rbac',
    '2-database',
    '3-controller',
    '4-webhook',
    '6-admission',
    '7-reader',
  ].map((layer) => `fluxqueue-${layer}`);
  let outdir = '';
  beforeEach(() => {
    outdir = mkdtempSync(join(tmpdir(), 'fluxqueue-place-'));
  });
  afterEach(() => rmSync(outdir, { recursive: true }));

  const withTeam = (depend: (team: Chart, stack: FluxQueue) => void, order: 'first' | 'last') => {
    const app = new App({ outdir });
    const early = order === 'first' ? new Chart(app, 'team') : undefined;
    const stack = defaultStack(app);
    const team = early ?? new Chart(app, 'team');
    new FluxSetup(team, 'default', { namespace: 'lab' });
    depend(team, stack);
    return files(app);
  };
  const part = (stack: FluxQueue, kind: string) => apiObjects(stack).find((object) => object.kind === kind)!;

  test.each<[string, (team: Chart, stack: FluxQueue) => void]>([
    ['the stack', (team, stack) => team.addDependency(stack)],
    ['its first object', (team, stack) => team.addDependency(part(stack, 'Namespace'))],
    ['its last layer', (team, stack) => team.addDependency(part(stack, 'APIService').chart)],
    ['an object in its middle', (team, stack) => team.addDependency(part(stack, 'StatefulSet'))],
  ])('stays when a chart depends on %s', (_, depend) => {
    expect(withTeam(depend, 'last')).toEqual([...LAYERS, 'team']);
    rmSync(outdir, { recursive: true });
    expect(withTeam(depend, 'first')).toEqual([...LAYERS, 'team']);
  });

  test('stays when the stack depends on a chart', () => {
    const depend = (team: Chart, stack: FluxQueue) => stack.addDependency(team);
    expect(withTeam(depend, 'last')).toEqual(['team', ...LAYERS]);
  });

  test('stays when an object of the stack depends on a chart', () => {
    const depend = (team: Chart, stack: FluxQueue) => part(stack, 'StatefulSet').addDependency(team);
    expect(withTeam(depend, 'last').filter((file) => file !== 'team')).toEqual(LAYERS);
  });

  test('is also the order of the objects in a chart', () => {
    const app = new App({ outdir });
    const chart = new Chart(app, 'platform');
    const stack = defaultStack(chart as never);
    const own = new k8s.KubeConfigMap(chart, 'own', { metadata: { name: 'own' } });
    own.addDependency(part(stack, 'Deployment'));
    expect(names(objectsOf(app))).toEqual([...names(stackObjects()), 'ConfigMap/own']);
  });
});

describe('a stack in the wrong place is refused', () => {
  test('in a chart with a namespace', () => {
    const chart = new Chart(new App(), 'platform', { namespace: 'platform' });
    expect(() => new FluxQueue(chart, 'queue')).toThrow('give namespace to FluxQueue');
  });

  test('beside another stack of the same cluster', () => {
    const app = new App();
    new FluxQueue(app, 'a');
    expect(() => new FluxQueue(app, 'b', { namespace: 'other' })).toThrow('a cluster has one stack');
    expect(() => new FluxQueue(new Chart(app, 'c'), 'c')).toThrow('is that of a too');
  });

  test('but not beside one of another cluster', () => {
    const app = new App();
    for (const cluster of ['north', 'south']) new FluxQueue(new Chart(app, cluster), 'queue', { cluster });
    expect(app.charts).toHaveLength(2);
  });

  test.each([
    ['Batch', 'is not the name of a namespace'],
    ['', 'is not the name of a namespace'],
    ['a'.repeat(64), 'is not the name of a namespace'],
    ['default', 'is used by other programs'],
    ['kube-system', 'is used by other programs'],
  ])('in the namespace %j', (namespace, problem) => {
    expect(() => stackObjects({ namespace })).toThrow(problem);
  });
});
