/** The manifests of a MiniCluster. */
import {
  brokerSelector,
  type ManifestObject,
  type MiniClusterSpec,
  objectNames,
  renderMiniCluster,
} from '../../../constructs/minicluster';
import { workloadSettings } from '../../../runtime/workloads/settings';

type Container = MiniClusterSpec['containers'][number];
interface PodSpec {
  readonly containers: readonly Record<string, unknown>[];
  readonly initContainers?: readonly Record<string, unknown>[];
  readonly volumes: readonly Record<string, unknown>[];
  readonly [field: string]: unknown;
}
interface Workload {
  readonly template: { readonly metadata: { labels: Record<string, string> }; readonly spec: PodSpec };
  readonly [field: string]: unknown;
}

function render(
  more: Partial<MiniClusterSpec> = {},
  container: Partial<Container> = {},
): readonly ManifestObject[] {
  const spec = { size: 4, containers: [{ image: 'app', command: 'run', ...container }], ...more };
  return renderMiniCluster({ metadata: { name: 'mc', namespace: 'lab' }, spec });
}
function find(objects: readonly ManifestObject[], kind: string, name = 'mc'): ManifestObject {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
}
const workload = (...args: Parameters<typeof render>) => {
  const objects = render(...args);
  return objects.at(-1)!.spec as Workload;
};
const pod = (...args: Parameters<typeof render>) => workload(...args).template.spec;

const SIDECARS = [
  { image: 'app', command: 'run', runFlux: true },
  { image: 'api', name: 'api', command: 'serve', ports: [80, 443] },
];

test('of nearly nothing', () => {
  expect(
    renderMiniCluster({
      metadata: { name: 'hello' },
      spec: { containers: [{ image: 'app', command: 'hostname' }] },
    }),
  ).toMatchSnapshot();
});

test('is the same every time, whatever the order of the maps', () => {
  const a = { environment: { A: '1', B: '2' }, volumes: { a: { path: '/a' }, b: { path: '/b' } } };
  const b = { volumes: { b: { path: '/b' }, a: { path: '/a' } }, environment: { B: '2', A: '1' } };
  expect(JSON.stringify(render({}, a))).toBe(JSON.stringify(render({}, b)));
});

test('kinds, in the order in which they are applied', () => {
  const objects = render({ containers: SIDECARS, services: [{ image: 'db', name: 'db', ports: [5432] }] });
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

test('names for who watches them', () => {
  const resource = { metadata: { name: 'mc' }, spec: { containers: [{}], network: { headlessName: 'hl' } } };
  expect(objectNames(resource)).toMatchObject({ workload: 'mc', service: 'hl', certificate: 'mc-curve' });
  expect(workload().template.metadata.labels).toMatchObject(
    Object.fromEntries([brokerSelector(resource).split('=')]),
  );
});

describe('the Job', () => {
  test('is done when the lead is, and an eviction is no failure', () => {
    expect(workload()).toMatchObject({
      completionMode: 'Indexed',
      completions: 4,
      parallelism: 4,
      backoffLimit: 0,
      activeDeadlineSeconds: 31_500_000,
      successPolicy: { rules: [{ succeededIndexes: '0' }] },
      podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
    });
    expect(pod()).toMatchObject({
      restartPolicy: 'Never',
      subdomain: 'mc',
      automountServiceAccountToken: false,
    });
    expect(pod()).not.toHaveProperty('setHostnameAsFQDN');
  });

  test('of an interactive cluster starts what ends again', () => {
    const job = workload({ interactive: true });
    expect(job).toMatchObject({ backoffLimit: 100 });
    expect(job).not.toHaveProperty('podFailurePolicy');
    expect(job.template.spec.restartPolicy).toBe('OnFailure');
  });

  test('a change of size changes two numbers and files, never the template', () => {
    const [four, eight] = [4, 8].map((size) => workload({ size, maxSize: 8 }));
    expect(eight).toMatchObject({ completions: 8, parallelism: 8 });
    expect(eight!.template).toEqual(four!.template);
  });

  test('a cluster that joins another has no lead whose end would be its end', () => {
    const leadBroker = { address: 'a', name: 'main', size: 2 };
    expect(workload({ flux: { bursting: { leadBroker } } })).not.toHaveProperty('successPolicy');
  });

  test('ends by its walltime or its deadline, whichever is earlier', () => {
    expect(workload({ walltime: '1h30m' })).toMatchObject({ activeDeadlineSeconds: 5400 });
    expect(workload({ walltime: '90' })).toMatchObject({ activeDeadlineSeconds: 90 });
    expect(workload({ walltime: '1h', deadlineSeconds: 60 })).toMatchObject({ activeDeadlineSeconds: 60 });
  });

  test('says to the queue what the queue reads', () => {
    const queue = { queue: 'night', walltime: '1h30m', exclusive: true };
    const low = find(render({ ...queue, priority: -5 }), 'Job').metadata;
    expect(workloadSettings(low)).toMatchObject({
      queue: 'night',
      walltimeSeconds: 5400,
      exclusive: true,
      priority: -5,
    });
    expect(workloadSettings(find(render({ priority: 7 }), 'Job').metadata)).toMatchObject({ priority: 7 });
  });
});

describe('the StatefulSet', () => {
  const persistent = { workload: 'StatefulSet', interactive: true } as const;

  test('starts all pods at once, under the same names, with the index where scripts look for it', () => {
    const spec = workload(persistent);
    expect(spec).toMatchObject({ replicas: 4, serviceName: 'mc', podManagementPolicy: 'Parallel' });
    expect(spec.template.spec.restartPolicy).toBe('Always');
    expect(spec.template.spec.containers[0]?.env).toEqual([
      {
        name: 'JOB_COMPLETION_INDEX',
        valueFrom: { fieldRef: { fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']" } },
      },
    ]);
    expect(spec.template.metadata.labels).toMatchObject(
      (spec.selector as { matchLabels: Record<string, string> }).matchLabels,
    );
  });

  test('queues pod by pod', () => {
    expect(workload({ ...persistent, queue: 'night' }).template.metadata.labels).toMatchObject({
      'fluxqueue/queue': 'night',
    });
  });
});

describe('Services', () => {
  test('pods have names before they are ready', () => {
    expect(find(render(), 'Service').spec).toMatchObject({
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: { 'flux-framework.org/minicluster': 'mc' },
      ports: [{ name: 'flux', port: 8050 }],
    });
  });

  test('a minimal one has an address and leads to the lead', () => {
    const { spec } = find(render({ flux: { minimalService: true } }), 'Service');
    expect(spec).toMatchObject({
      selector: { 'batch.kubernetes.io/job-completion-index': '0' },
      publishNotReadyAddresses: true,
    });
    expect(spec).not.toHaveProperty('clusterIP');
  });

  test('ports of sidecars are named, because Kubernetes wants that of two, and under a name of the cluster', () => {
    expect(find(render({ containers: SIDECARS }), 'Service', 'mc-api').spec).toEqual({
      ports: [
        { name: 'port-80', port: 80, targetPort: 80 },
        { name: 'port-443', port: 443, targetPort: 443 },
      ],
      selector: { 'hpa-selector': 'mc' },
    });
  });

  test('the services’ pod is found by its host name in the headless Service, and by a Service of its own', () => {
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
    // An autoscaler must not count it, nor a sidecar's Service reach it.
    expect(labels).not.toHaveProperty('hpa-selector');
  });
});

describe('the pod', () => {
  test('sidecars are native: they start first and don’t keep the pod from ending', () => {
    const { containers, initContainers } = pod({ containers: SIDECARS });
    expect(containers.map(({ name }) => name)).toEqual(['mc']);
    expect(initContainers?.map(({ name, restartPolicy }) => [name, restartPolicy])).toEqual([
      ['flux-view', undefined],
      ['api', 'Always'],
    ]);
  });

  test('Flux in the image: no init container, no volume over /opt/software', () => {
    const { initContainers, volumes } = pod({ flux: { container: { disable: true } } });
    expect(initContainers).toBeUndefined();
    expect(volumes.map(({ name }) => name)).not.toContain('flux-software');
  });

  test.each<[string, Partial<MiniClusterSpec>, Partial<Container>, number]>([
    ['who the image says', {}, {}, 0o444],
    ['root', { pod: { securityContext: { runAsUser: 0 } } }, {}, 0o400],
    ['root, said by the container', {}, { securityContext: { runAsUser: 0 } }, 0o400],
    [
      'a group that volumes are given to',
      { pod: { securityContext: { fsGroup: 7, runAsUser: 5 } } },
      {},
      0o440,
    ],
    ['restricted', { pod: { restricted: true } }, {}, 0o440],
  ])('the certificate is readable for %s', (_, more, container, mode) => {
    const volume = pod(more, container).volumes.find(({ name }) => name === 'flux-curve-secret');
    expect(volume).toEqual({
      name: 'flux-curve-secret',
      secret: { secretName: 'mc-curve', defaultMode: mode },
    });
  });

  test('only the container with the broker sees the certificate', () => {
    const { initContainers } = pod({ containers: SIDECARS });
    expect(JSON.stringify(initContainers)).not.toContain('curve');
  });

  test('no certificate text is in any manifest', () => {
    const text = 'curve\n    secret-key = "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"';
    expect(JSON.stringify(render({ flux: { curveCert: text } }))).not.toContain('secret-key');
  });

  test('restricted: Pod Security’s rules in every pod and container, and places to write', () => {
    const spec = { pod: { restricted: true }, containers: SIDECARS, services: [{ image: 'db', name: 'db' }] };
    const objects = render(spec);
    const pods = [find(objects, 'Job'), find(objects, 'Deployment', 'mc-services')].map(
      ({ spec }) => (spec as Workload).template.spec,
    );
    for (const each of pods) {
      expect(each.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      const containers = [...(each.initContainers ?? []), ...each.containers];
      expect(containers.length).toBeGreaterThan(0);
      for (const { securityContext, volumeMounts } of containers) {
        expect(securityContext).toMatchObject({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(volumeMounts).toBeDefined();
      }
      expect(each.volumes).toContainEqual({ name: 'flux-tmp', emptyDir: {} });
    }
  });

  test('restricted, with another user', () => {
    const { securityContext } = pod({ pod: { restricted: true, securityContext: { runAsUser: 4711 } } });
    expect(securityContext).toMatchObject({ runAsUser: 4711, fsGroup: 1000, runAsNonRoot: true });
  });

  test('node affinity stays without the preferences', () => {
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

  test('a ConfigMap volume is named as it is mounted', () => {
    const { volumes, containers } = pod({}, { volumes: { files: { path: '/f', configMapName: 'other' } } });
    expect(volumes).toContainEqual({ name: 'files', configMap: { name: 'other' } });
    expect(containers[0]?.volumeMounts).toContainEqual({ name: 'files', mountPath: '/f' });
  });

  test('pod labels of users don’t take ours away', () => {
    const { template } = workload({ pod: { labels: { 'hpa-selector': 'x', mine: 'y' } } });
    expect(template.metadata.labels).toMatchObject({ 'hpa-selector': 'mc', mine: 'y' });
  });

  test('the mount path is one everywhere', () => {
    expect(JSON.stringify(render({ flux: { container: { mountPath: '/opt/mini' } } }))).not.toContain(
      '/mnt/flux',
    );
  });
});

test('keygen: an empty Secret, and a Job that may fill that one and no other', () => {
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
    command: [
      'node',
      '/app/runtime.js',
      'keygen',
      '--namespace',
      '$(NAMESPACE)',
      '--secret',
      'mc-curve',
      '--cluster',
      'mc',
    ],
  });
  expect(objects.at(-1)).toEqual(renderMiniCluster(resource).at(-1));
});
