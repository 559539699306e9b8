import { roleCommand } from '../../../constructs/images';
import { type MiniClusterSpec, renderMiniCluster } from '../../../constructs/minicluster';
import { find, pod, render, WITH_SIDECAR, type Workload } from './rendered';

type ContainerSpec = MiniClusterSpec['containers'][number];

test.each<[string, Partial<MiniClusterSpec>, Partial<ContainerSpec>, number]>([
  ['the user of the image', {}, {}, 0o444],
  ['root', { pod: { securityContext: { runAsUser: 0 } } }, {}, 0o400],
  ['root, if the container sets it', {}, { securityContext: { runAsUser: 0 } }, 0o400],
  ['the group of the volumes', { pod: { securityContext: { fsGroup: 7, runAsUser: 5 } } }, {}, 0o440],
  ['the user of restricted pods', { pod: { restricted: true } }, {}, 0o440],
])('the mounted certificate is readable by %s', (_, more, container, mode) => {
  const volume = pod(more, container).volumes.find(({ name }) => name === 'flux-curve-secret');
  expect(volume).toEqual({
    name: 'flux-curve-secret',
    secret: { secretName: 'mc-curve', defaultMode: mode },
  });
});

test('only the container with the broker mounts the certificate', () => {
  const { initContainers } = pod({ containers: WITH_SIDECAR });
  expect(JSON.stringify(initContainers)).not.toContain('curve');
});

test('no manifest contains the text of a certificate', () => {
  const text = 'curve\n    secret-key = "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"';
  expect(JSON.stringify(render({ flux: { curveCert: text } }))).not.toContain('secret-key');
});

test('keygen adds an empty Secret and a Job that may update that Secret and no other', () => {
  const resource = { metadata: { name: 'mc', namespace: 'lab' }, spec: { containers: [{ image: 'app' }] } };
  const objects = renderMiniCluster(resource, { keygen: { image: 'rt:1' } });
  const secret = find(objects, 'Secret', 'mc-curve');
  expect([secret.data, secret.stringData]).toEqual([undefined, undefined]);
  expect(find(objects, 'Role', 'mc-keygen').rules).toEqual([
    {
      apiGroups: [''],
      resources: ['secrets'],
      resourceNames: ['mc-curve'],
      verbs: ['get', 'update', 'patch'],
    },
  ]);
  const job = find(objects, 'Job', 'mc-keygen').spec as Workload;
  expect(job.template.spec.containers[0]).toMatchObject({
    image: 'rt:1',
    command: roleCommand(
      'keygen',
      ...['--namespace', '$(NAMESPACE)', '--secret', 'mc-curve', '--cluster', 'mc'],
    ),
  });
  expect(objects.at(-1)).toEqual(renderMiniCluster(resource).at(-1));
});
