import { find, pod, render, WITH_SIDECAR, type Workload, workload } from './rendered';

test('sidecars are native: they start before the broker and do not keep the pod from ending', () => {
  const { containers, initContainers } = pod({ containers: WITH_SIDECAR });
  expect(containers.map(({ name }) => name)).toEqual(['mc']);
  expect(initContainers?.map(({ name, restartPolicy }) => [name, restartPolicy])).toEqual([
    ['flux-view', undefined],
    ['api', 'Always'],
  ]);
});

test('restricted applies the rules of Pod Security to every pod and container, and mounts writable directories', () => {
  const services = [{ image: 'db', name: 'db' }];
  const objects = render({ pod: { restricted: true }, containers: WITH_SIDECAR, services });
  const pods = [find(objects, 'Job'), find(objects, 'Deployment', 'mc-services')].map(
    ({ spec }) => (spec as Workload).template.spec,
  );
  for (const spec of pods) {
    expect(spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    const containers = [...(spec.initContainers ?? []), ...spec.containers];
    expect(containers.length).toBeGreaterThan(0);
    for (const { securityContext, volumeMounts } of containers) {
      expect(securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(volumeMounts).toBeDefined();
    }
    expect(spec.volumes).toContainEqual({ name: 'flux-tmp', emptyDir: {} });
  }
});

test('a security context overrides single fields of restricted', () => {
  const { securityContext } = pod({ pod: { restricted: true, securityContext: { runAsUser: 4711 } } });
  expect(securityContext).toMatchObject({ runAsUser: 4711, fsGroup: 1000, runAsNonRoot: true });
});

test('disableAffinity removes the preferences and keeps the required node affinity', () => {
  const more = { network: { disableAffinity: true }, pod: { nodeAffinity: { b: ['2'], a: ['1'] } } };
  expect(pod(more).affinity).toEqual({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          {
            matchExpressions: [
              { key: 'a', operator: 'In', values: ['1'] },
              { key: 'b', operator: 'In', values: ['2'] },
            ],
          },
        ],
      },
    },
  });
});

test('a volume and its mount have the same name, whatever the name of the ConfigMap is', () => {
  const { volumes, containers } = pod({}, { volumes: { files: { path: '/f', configMapName: 'other' } } });
  expect(volumes).toContainEqual({ name: 'files', configMap: { name: 'other' } });
  expect(containers[0]?.volumeMounts).toContainEqual({ name: 'files', mountPath: '/f' });
});

test('labels of users do not override those that the MiniCluster needs', () => {
  const { template } = workload({ pod: { labels: { 'hpa-selector': 'x', mine: 'y' } } });
  expect(template.metadata.labels).toMatchObject({ 'hpa-selector': 'mc', mine: 'y' });
});
