/** The MiniCluster examples: the feature that each one shows, their fields, and their table in docs/examples.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { CURVE_FILE, resourceFile } from '../../constructs/minicluster/pod-paths';
import { withDefaults } from '../../constructs/minicluster/schema';
import shell from '../../imports/minicluster-shell.json';
import { find } from '../constructs/manifests';
import { FIELDS } from '../constructs/minicluster/fields';
import { type Example, example, FILES, fieldsOf } from './miniclusters';

/** Loosely typed, because assertions check single fields. */
type Pod = Record<string, unknown> & {
  readonly containers: readonly Record<string, unknown>[];
  readonly initContainers?: readonly Record<string, unknown>[];
};

const job = ({ objects }: Example, name: string) =>
  find(objects, 'Job', name).spec as Record<string, unknown> & { template: { spec: Pod } };
const pod = (made: Example, name: string) => job(made, name).template.spec;
const script = ({ objects }: Example, name: string, key: string) => {
  const maps = [`${name}-entrypoint`, `${name}-config`].map((each) => find(objects, 'ConfigMap', each));
  return maps.map(({ data }) => (data as Record<string, string>)[key]).find((text) => text !== undefined);
};
const lead = (made: Example, name: string) => script(made, name, 'cluster_lead.sh');
const toml = (made: Example, name: string) => script(made, name, 'config_broker.toml');

/** For each example, checks of the feature that it shows. */
const ABOUT: Readonly<Record<string, (made: Example) => void>> = {
  'hello.ts': (made) => {
    expect(lead(made, 'hello')).toContain('flux submit -N 4 -n 4 --quiet --watch hostname');
    expect(find(made.objects, 'Job', 'hello-keygen')).toBeDefined();
  },
  'batch.yaml': (made) =>
    expect(script(made, 'batch', 'runner_batch.sh')?.match(/^flux submit .*\|\| code=1$/gm)).toHaveLength(3),
  'sweep.yaml': (made) =>
    expect(script(made, 'sweep', 'runner_batch.sh')).toMatch(/^#!\/bin\/bash\nfor alpha in/),
  'lammps.ts': (made) => {
    expect(lead(made, 'lammps')).toContain('flux run -N 32 -n 512 -ompi=openmpi@5 --cores-per-task=1 lmp');
    expect(script(made, 'lammps', 'cluster_broker.sh')).toContain('-Stbon.topo=kary:8');
  },
  'interactive.yaml': (made) => expect(lead(made, 'interactive')).toBe('set -- "$@" -Sbroker.rc2_none\n'),
  'flux-in-image.ts': (made) => {
    expect(pod(made, 'flux-in-image').initContainers ?? []).toEqual([]);
    expect(pod(made, 'flux-in-image').securityContext).toMatchObject({ runAsNonRoot: true });
  },
  'own-view.yaml': (made) =>
    expect(pod(made, 'own-view')).toMatchObject({
      nodeSelector: { 'kubernetes.io/arch': 'arm64' },
      initContainers: [{ name: 'flux-copy', image: 'registry.example.com/hpc/flux-view-sles:15.6' }],
      imagePullSecrets: [{ name: 'registry' }],
    }),
  'volumes.ts': (made) =>
    expect(pod(made, 'volumes').volumes).toEqual(
      expect.arrayContaining([
        { name: 'genomes', persistentVolumeClaim: { claimName: 'genomes', readOnly: true } },
        { name: 'license', secret: { secretName: 'aligner-license', defaultMode: 0o440 } },
      ]),
    ),
  'storage.yaml': (made) =>
    expect(pod(made, 'storage').volumes).toEqual(
      expect.arrayContaining([
        { name: 'home', nfs: { server: 'nas.example.com', path: '/export/home' } },
        { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '16Gi' } },
      ]),
    ),
  'minimal-service.ts': (made) => {
    const { spec } = find(made.objects, 'Service', 'brokers');
    expect(spec).not.toHaveProperty('clusterIP');
    expect(toml(made, 'minimal')).toContain('connect = "tcp://brokers.hpc.svc.hpc.example.com:%p"');
  },
  'sidecars.ts': (made) => {
    const sidecars = pod(made, 'sidecars').initContainers ?? [];
    expect(sidecars.filter(({ restartPolicy }) => restartPolicy === 'Always')).toHaveLength(2);
    for (const name of ['sidecars-metrics', 'pages', 'sidecars-queue'])
      expect(find(made.objects, 'Service', name)).toBeDefined();
    expect(find(made.objects, 'Deployment', 'sidecars-services')).toBeDefined();
  },
  'leader-worker.ts': (made) => {
    expect(script(made, 'leader-worker', 'runner_script.sh')).toContain('"$FLUX_TASK_RANK" = 0');
    expect(lead(made, 'leader-worker')).toMatch(
      /flux submit -N 4 --quiet --watch "\$shell" .*\/script\.sh\n$/,
    );
  },
  'autoscale.ts': (made) => {
    const { spec } = find(made.objects, 'MiniCluster', 'elastic');
    expect(find(made.objects, 'HorizontalPodAutoscaler', 'elastic').spec).toMatchObject({
      scaleTargetRef: { kind: 'MiniCluster', name: 'elastic' },
      minReplicas: (spec as { minSize: number }).minSize,
      maxReplicas: (spec as { maxSize: number }).maxSize,
    });
  },
  'self-scaling.ts': (made) => {
    expect(find(made.objects, 'Role', 'self-scaling').rules).toEqual([
      expect.objectContaining({
        resourceNames: [find(made.objects, 'MiniCluster', 'self-scaling').metadata.name],
      }),
    ]);
    expect(find(made.objects, 'RoleBinding', 'self-scaling').subjects).toEqual([
      { kind: 'ServiceAccount', name: 'self-scaling' },
    ]);
  },
  'bursting.ts': (made) => {
    const ranks = (name: string) =>
      [...(toml(made, name) ?? '').matchAll(/ host = "([^"]+)"/g)].map(([, host]) => host);
    expect(ranks('campus')).toEqual(['campus-[0-3]', 'cloud-[0-7]']);
    expect(ranks('cloud')).toEqual(['campus-0', 'campus-[1-3]', 'cloud-[0-7]']);
    expect(job(made, 'cloud').suspend).toBe(true);
  },
  'two-clusters.yaml': (made) => {
    const ranks = [
      / host = "main-\[0-1\]" .*\n.* host = "more-\[0-3\]"/,
      / host = "main-0", connect = "tcp:\/\/main-0.main:8050"/,
    ];
    expect(toml(made, 'main')).toMatch(ranks[0]!);
    expect(toml(made, 'more')).toMatch(ranks[1]!);
  },
  'web-service.ts': (made) => {
    expect(lead(made, 'web')).toMatch(
      /-Sbroker.rc2_none\nbeside=yes\ncommand_beside\(\) \{ .*script\.sh; \}\n$/,
    );
    expect(find(made.objects, 'NetworkPolicy', 'web').spec).toMatchObject({
      podSelector: { matchLabels: { 'hpa-selector': 'web' } },
    });
    expect(JSON.stringify(job(made, 'web').template)).toContain('"hpa-selector":"web"');
  },
  'outside-brokers.yaml': (made) =>
    expect(toml(made, 'lab')).toContain('host = "lab-[0-3],workstation-[1-2]"'),
  'shared-processes.ts': (made) => {
    expect(pod(made, 'shared').shareProcessNamespace).toBe(true);
    expect(script(made, 'shared', 'cluster_settings.sh')).not.toContain('wait_socket=yes');
  },
  'workflow.ts': (made) => {
    expect(lead(made, 'workflow')).toBe(
      'set -- "$@" snakemake --executor flux --jobs 64 --rerun-incomplete\n',
    );
    expect(toml(made, 'workflow')).toContain('queue-policy = "easy"');
  },
  'training.ts': (made) => {
    expect(script(made, 'training', 'runner_script.sh')).toContain('--node-rank="$FLUX_TASK_RANK"');
    expect(pod(made, 'training').containers[0]).toMatchObject({ resources: { claims: [{ name: 'gpus' }] } });
  },
  'state.ts': (made) => {
    const { spec } = find(made.objects, 'StatefulSet', 'state');
    expect(spec).toMatchObject({ template: { spec: { terminationGracePeriodSeconds: 600 } } });
    expect(script(made, 'state', 'cluster_settings.sh')).toContain('archive=/state/flux.tar.gz\n');
  },
  'broker-config.ts': (made) => {
    const spec = withDefaults(made.resources[0]!.spec);
    expect(toml(made, 'tuned')).toContain(`curve_cert = "${CURVE_FILE}"`);
    expect(toml(made, 'tuned')).toContain(`path = "${resourceFile(spec)}"`);
  },
  'tenants.ts': ({ objects }) => {
    for (const [namespace, name] of [
      ['physics', 'lattice'],
      ['chemistry', 'screening'],
    ] as const)
      expect(find(objects, 'Job', name).metadata.namespace).toBe(namespace);
    expect(find(objects, 'Job', 'lattice').metadata.labels).toMatchObject({
      'fluxqueue/queue': find(objects, 'FluxSetup', 'runs').metadata.name,
      'fluxqueue/priority': '100',
      'fluxqueue/exclusive': 'true',
    });
  },
  'spot.yaml': (made) => {
    expect(job(made, 'spot')).toMatchObject({
      backoffLimit: 3,
      podFailurePolicy: { rules: [{ action: 'Ignore' }, {}] },
    });
    expect(pod(made, 'spot').restartPolicy).toBe('Never');
  },
  'diagnose.yaml': (made) => {
    expect(script(made, 'diagnose', 'cluster_broker.sh')).toMatch(
      /^set -- strace -f -e trace=network -o \S+ flux broker/,
    );
    expect(lead(made, 'diagnose')).toContain('strace -c flux submit -N 2 -n 2 -vvv');
  },
  'placement.yaml': (made) => {
    const { affinity } = pod(made, 'placement');
    expect(Object.keys(affinity as object)).toEqual(['nodeAffinity']);
    expect(pod(made, 'placement').topologySpreadConstraints).toHaveLength(2);
  },
  'bare-metal.yaml': (made) => {
    expect(pod(made, 'bare-metal')).toMatchObject({ hostNetwork: true, hostIPC: true, hostPID: true });
    expect(script(made, 'bare-metal', 'cluster_settings.sh')).toContain('hostname=pod\n');
  },
};

test('every example has a check', () => {
  expect(Object.keys(ABOUT).sort()).toEqual(FILES);
});

const SHARED = new Map(Object.entries(shell).map(([name, text]) => [text, `<${name}>`]));

/** The objects of an example without the shared scripts and the certificate Job. */
const own = ({ objects }: Example) =>
  stringify(
    objects.filter(({ metadata }) => !metadata.name?.endsWith('-keygen')),
    (_, value) => SHARED.get(value) ?? value,
    { aliasDuplicateObjects: false, lineWidth: 0 },
  );

describe.each(FILES)('%s', (file) => {
  test('shows its feature', () => ABOUT[file]?.(example(file)));

  test('matches its snapshot', () => expect(own(example(file))).toMatchSnapshot());
});

describe('docs/examples.md', () => {
  const text = readFileSync(join(__dirname, '../../docs/examples.md'), 'utf8');
  const rows = [
    ...text.matchAll(/^\| \[(.+)\]\(\.\.\/examples\/minicluster\/(.+)\) \| (.+) \| (.+) \|$/gm),
  ].map(([, name, link, , fields = '']) => ({
    name,
    link,
    fields: [...fields.matchAll(/`([^`]+)`/g)].map(([, path]) => path),
  }));

  test('has a row for each file', () => {
    expect(rows.map(({ name }) => name).sort()).toEqual(FILES);
    for (const { name, link } of rows) expect(link).toBe(name);
  });

  test.each(rows)('$name sets the fields that its row names', ({ name, fields }) => {
    const set = fieldsOf(example(name!));
    expect(fields.filter((path) => !set.has(path!))).toEqual([]);
  });

  test('names every field in some row', () => {
    const shown = new Set(rows.flatMap(({ fields }) => fields));
    expect(FIELDS.map(({ path }) => path).filter((path) => !shown.has(path))).toEqual(['flux.curveCert']);
  });

  test('is linked from the README', () => {
    expect(readFileSync(join(__dirname, '../../README.md'), 'utf8')).toContain('(docs/examples.md)');
  });
});
