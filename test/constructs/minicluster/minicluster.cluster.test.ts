/** MiniCluster on a real apiserver: the CRD, and the manifests of resources. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type MiniClusterSpec,
  renderMiniCluster,
  validateMiniCluster,
} from '../../../constructs/minicluster';
import { withDefaults } from '../../../constructs/minicluster/schema';
import { describeCluster } from '../../cluster/suite';
import { expectEstablished } from '../crds/expect-established';
import { FIELDS } from './fields';
import { INVALID, VALID } from './specs';

const CRD = readFileSync(join(__dirname, '../../../constructs/crds/miniclusters.yaml'), 'utf8');
const COLLECTION = '/apis/flux-framework.org/v1alpha2/namespaces/default/miniclusters';
const STRICT = '?fieldValidation=Strict&dryRun=All';

/** Where objects of these kinds are created. */
const COLLECTIONS: Readonly<Record<string, string>> = {
  ConfigMap: '/api/v1/namespaces/default/configmaps',
  Deployment: '/apis/apps/v1/namespaces/default/deployments',
  Job: '/apis/batch/v1/namespaces/default/jobs',
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
  Secret: '/api/v1/namespaces/default/secrets',
  Service: '/api/v1/namespaces/default/services',
  ServiceAccount: '/api/v1/namespaces/default/serviceaccounts',
  StatefulSet: '/apis/apps/v1/namespaces/default/statefulsets',
};

describeCluster('MiniCluster on a real apiserver', (getCluster) => {
  const resource = (name: string, spec: unknown) => ({
    apiVersion: 'flux-framework.org/v1alpha2',
    kind: 'MiniCluster',
    metadata: { name, namespace: 'default' },
    spec,
  });
  const send = (spec: unknown, query = STRICT) =>
    getCluster().api.send('POST', `${COLLECTION}${query}`, resource('mc', spec));

  beforeAll(async () => {
    await getCluster().apply(CRD);
    await getCluster().waitFor('the apiserver to serve MiniClusters', async () => {
      const { status } = await getCluster().api.send('GET', COLLECTION);
      return status === 200;
    });
  });

  test('has a structural schema and accepted names', async () => {
    await expectEstablished(getCluster(), 'miniclusters.flux-framework.org');
  });

  describe.each(Object.entries(VALID))('%s', (_, spec) => {
    test('is accepted', async () => {
      const { status, text } = await send(spec);
      expect([status, status === 201 ? '' : text]).toEqual([201, '']);
    });

    test('gets the defaults that withDefaults fills in', async () => {
      const { text } = await send(spec);
      expect(JSON.parse(text).spec).toEqual(JSON.parse(JSON.stringify(withDefaults(spec))));
    });

    test('has manifests that are all accepted', async () => {
      const metadata = { name: 'mc', namespace: 'default' };
      const objects = renderMiniCluster({ metadata, spec }, { keygen: {} });
      for (const object of objects) {
        const { status, text } = await getCluster().api.send(
          'POST',
          `${COLLECTIONS[object.kind]}${STRICT}`,
          object,
        );
        expect([object.kind, object.metadata.name, status, status === 201 ? '' : text]).toEqual([
          object.kind,
          object.metadata.name,
          201,
          '',
        ]);
      }
    });
  });

  test('accepts every single field', async () => {
    const base = { image: 'app', command: 'run' };
    for (const { path, spec, container } of FIELDS) {
      const own = container === undefined ? {} : { containers: [{ ...base, ...container }] };
      const { status, text } = await send({ size: 4, containers: [base], ...spec, ...own });
      expect([path, status, status === 201 ? '' : text]).toEqual([path, 201, '']);
    }
  });

  test('refuses the invalid specs, as far as schema and CEL can check them', async () => {
    for (const { mistake, spec, refused = true } of INVALID) {
      const { status, text } = await send(spec);
      expect([mistake, status, refused ? '' : text]).toEqual([
        mistake,
        refused ? 422 : 201,
        refused ? '' : text,
      ]);
      if (
        refused &&
        validateMiniCluster({ metadata: { name: 'mc' }, spec: spec as MiniClusterSpec }).length === 0
      )
        expect(mistake).toBe('a resource claim without a source');
    }
  });

  test('states the remedy in the messages of CEL rules', async () => {
    const { text } = await send({ size: 4, maxSize: 2, containers: [{ launcher: true, batch: true }] });
    expect(text).toContain('spec.maxSize: Invalid value');
    expect(text).toContain('must not be smaller than size; raise maxSize or lower size');
    expect(text).toContain('spec.containers[0].launcher');
  });

  test('refuses a name that is too long for a host name', async () => {
    const long = resource('a'.repeat(58), { containers: [{}] });
    const { status, text } = await getCluster().api.send('POST', `${COLLECTION}${STRICT}`, long);
    expect([status, text]).toEqual([422, expect.stringContaining('metadata.name')]);
  });

  test('supports the columns, the short name and explain of kubectl', async () => {
    await send({ size: 3, maxSize: 5, containers: [{ image: 'app' }] }, '');
    const { stdout } = await getCluster().kubectl(['get', 'mc', '-n', 'default']);
    expect(stdout.split('\n')[0]?.split(/\s+/)).toEqual(['NAME', 'SIZE', 'READY', 'PHASE', 'RESULT', 'AGE']);
    const explained = await getCluster().kubectl(['explain', 'minicluster.spec.walltime']);
    expect(explained.stdout).toContain('the queue plans with it');
  });

  test('supports the scale subresource', async () => {
    await getCluster().api.send('PATCH', `${COLLECTION}/mc/status`, {
      status: { size: 3, selector: 'hpa-selector=mc' },
    });
    const scaled = await getCluster().kubectl(['scale', 'mc', 'mc', '-n', 'default', '--replicas=5']);
    expect([scaled.code, scaled.stderr]).toEqual([0, '']);
    const { spec, status } = await getCluster().get<{ spec: { replicas: number }; status: object }>(
      `${COLLECTION}/mc/scale`,
    );
    expect([spec.replicas, status]).toEqual([5, { replicas: 3, selector: 'hpa-selector=mc' }]);
    const beyond = await getCluster().kubectl(['scale', 'mc', 'mc', '-n', 'default', '--replicas=6']);
    expect(beyond.stderr).toContain('must not be smaller than size');
    const none = await getCluster().kubectl(['scale', 'mc', 'mc', '-n', 'default', '--replicas=0']);
    expect(none.code).not.toBe(0);
  });
});
