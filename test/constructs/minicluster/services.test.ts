import { USER_ANNOTATION } from '../../../constructs/api/labels';
import { renderMiniCluster } from '../../../constructs/minicluster';
import { find, render, WITH_SIDECAR, type Workload } from './rendered';

test('the headless Service publishes the names of pods that are not ready', () => {
  expect(find(render(), 'Service').spec).toMatchObject({
    clusterIP: 'None',
    publishNotReadyAddresses: true,
    selector: { 'flux-framework.org/minicluster': 'mc' },
    ports: [{ name: 'flux', port: 8050 }],
  });
});

test('a minimal Service has a cluster IP and selects the lead broker', () => {
  const { spec } = find(render({ flux: { minimalService: true } }), 'Service');
  expect(spec).toMatchObject({
    selector: { 'batch.kubernetes.io/job-completion-index': '0' },
    publishNotReadyAddresses: true,
  });
  expect(spec).not.toHaveProperty('clusterIP');
});

test('the Service of a sidecar has the name of the cluster as prefix and a name for each port', () => {
  expect(find(render({ containers: WITH_SIDECAR }), 'Service', 'mc-api').spec).toEqual({
    ports: [
      { name: 'port-80', port: 80, targetPort: 80 },
      { name: 'port-443', port: 443, targetPort: 443 },
    ],
    selector: { 'hpa-selector': 'mc' },
  });
});

test('the pod of services is selected by the headless Service and by the Service of its ports', () => {
  const objects = render({ services: [{ image: 'db', name: 'db', ports: [5432], command: 'run "db"' }] });
  const deployment = find(objects, 'Deployment', 'mc-services').spec as Workload;
  const { labels } = deployment.template.metadata;
  expect(deployment.template.spec).toMatchObject({ hostname: 'mc-services', subdomain: 'mc' });
  expect(deployment.template.spec.containers[0]).toMatchObject({ command: ['/bin/sh', '-c', 'run "db"'] });
  for (const [kind, name] of [
    ['Service', 'mc'],
    ['Service', 'mc-db'],
  ] as const)
    expect(labels).toMatchObject((find(objects, kind, name).spec as { selector: object }).selector);
  // An autoscaler must not count the pod, and the Service of a sidecar must not select it.
  expect(labels).not.toHaveProperty('hpa-selector');
});

test('pods of services and of a lasting cluster count for who created it, whatever its spec claims', () => {
  const claim = { annotations: { [USER_ANNOTATION]: 'root', note: 'x' } };
  const spec = {
    ...{ size: 1, pod: claim, workload: 'StatefulSet' as const, interactive: true },
    ...{ containers: [{ image: 'app' }], services: [{ name: 'db', image: 'db' }] },
  };
  const annotationsOf = (annotations: Record<string, string>) => {
    const objects = renderMiniCluster({ metadata: { name: 'mc', namespace: 'lab', annotations }, spec });
    return [find(objects, 'Deployment', 'mc-services'), find(objects, 'StatefulSet')].map(
      (object) =>
        (object.spec as { template: { metadata: { annotations?: object } } }).template.metadata.annotations,
    );
  };
  const noted = { [USER_ANNOTATION]: 'ada' };
  expect(annotationsOf(noted)).toEqual(Array(2).fill({ note: 'x', ...noted }));
  expect(annotationsOf({})).toEqual(Array(2).fill({ note: 'x' }));
});
