/** A real apiserver validates all objects of all MiniCluster examples strictly, so that no field is dropped. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { find } from '../constructs/manifests';
import { example, FILES } from './miniclusters';

const STRICT = 'fieldManager=kubectl&fieldValidation=Strict&dryRun=All';
const crd = (name: string) => readFileSync(join(__dirname, `../../constructs/crds/${name}.yaml`), 'utf8');

describeCluster('the examples of MiniCluster', (getCluster) => {
  const namespace = (name: string, labels: Record<string, string> = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels },
  });

  beforeAll(async () => {
    await getCluster().apply(crd('miniclusters'));
    await getCluster().apply(crd('fluxsetups'));
    const objects = FILES.flatMap((file) => example(file).objects);
    const names = new Set(objects.map(({ metadata }) => metadata.namespace ?? 'default'));
    await getCluster().apply([...names].map((name) => namespace(name)));
  });

  test.each(FILES)('accepts the objects of %s', async (file) => {
    const { api } = getCluster();
    for (const object of example(file).objects) {
      const path = `${await api.collection(object)}/${object.metadata.name}?${STRICT}`;
      const { status, text } = await api.send('PATCH', path, object, 'application/apply-patch+yaml');
      expect([object.kind, object.metadata.name, status < 300 ? '' : text]).toEqual([
        object.kind,
        object.metadata.name,
        '',
      ]);
    }
  });

  test.each(FILES)('accepts the specs of %s as MiniCluster resources', async (file) => {
    for (const { metadata, spec } of example(file).resources) {
      const resource: KubeObject = {
        apiVersion: 'flux-framework.org/v1alpha2',
        kind: 'MiniCluster',
        metadata: { ...metadata },
        spec,
      };
      await getCluster().apply(resource, { dryRun: true });
    }
  });

  test('admits the pods of flux-in-image.ts to a restricted namespace', async () => {
    await getCluster().apply(namespace('strict', { 'pod-security.kubernetes.io/enforce': 'restricted' }));
    const pod = async (file: string, name: string) => {
      const { template } = find(example(file).objects, 'Job', name).spec as { template: { spec: object } };
      const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: template.spec };
      return getCluster().api.send('POST', `/api/v1/namespaces/strict/pods?dryRun=All`, body);
    };
    await getCluster().waitFor('the ServiceAccount of pods', () =>
      getCluster().api.get('/api/v1/namespaces/strict/serviceaccounts/default'),
    );
    expect((await pod('hello.ts', 'hello')).text).toContain('violates PodSecurity');
    expect((await pod('flux-in-image.ts', 'flux-in-image')).status).toBe(201);
  });
});
