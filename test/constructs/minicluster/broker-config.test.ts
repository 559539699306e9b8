/** broker.toml, table by table, in the form that a real Flux accepts. */
import { type MiniClusterSpec, renderMiniCluster } from '../../../constructs/minicluster';

type Container = MiniClusterSpec['containers'][number];

function files(more: Partial<MiniClusterSpec> = {}, container: Partial<Container> = {}, namespace?: string) {
  const spec = { size: 4, containers: [{ image: 'app', command: 'run', ...container }], ...more };
  const metadata = { name: 'mc', ...(namespace === undefined ? {} : { namespace }) };
  const map = renderMiniCluster({ metadata, spec }).find(({ metadata }) => metadata.name === 'mc-config');
  return map?.data as Record<string, string>;
}
const toml = (...args: Parameters<typeof files>) => files(...args)['config_broker.toml']!;
const cpu = (quantity: string | number) => ({ resources: { limits: { cpu: quantity } } });

test('has all tables for a cluster with CPU amounts and a namespace', () => {
  expect(toml({}, cpu(2), 'lab')).toBe(`[access]
allow-guest-user = true
allow-root-owner = true

[bootstrap]
curve_cert = "/run/flux-curve/curve.cert"
enable_ipv6 = true
default_port = 8050
default_bind = "tcp://*:%p"
default_connect = "tcp://%h.mc.lab.svc.cluster.local:%p"
hosts = [
  { host = "mc-[0-3]" },
]

[tbon]
connect_timeout = "5s"
tcp_user_timeout = "20s"

[resource]
noverify = true

[[resource.config]]
hosts = "mc-[0-3]"
cores = "0-1"
`);
});

test('uses short host names without a namespace, so that the manifests can be applied to any namespace', () => {
  expect(toml()).toContain('default_connect = "tcp://%h.mc:%p"');
  expect(toml({ network: { headlessName: 'hl' } })).toContain('default_connect = "tcp://%h.hl:%p"');
});

test.each([
  [1, '0'],
  ['1', '0'],
  ['500m', '0'],
  ['1500m', '0'],
  ['3900m', '0-2'],
  ['64', '0-63'],
  ['2e1', '0-19'],
])('offers for %s CPUs the cores "%s"', (quantity, cores) => {
  expect(toml({}, cpu(quantity))).toContain(`cores = "${cores}"`);
});

test('takes cores from flux.cores, else from the limit, else from the request, else from the pod', () => {
  const both = { resources: { limits: { cpu: '2' }, requests: { cpu: '4' } } };
  expect(toml({}, both)).toContain('cores = "0-1"');
  expect(toml({}, { resources: { requests: { cpu: '4' } } })).toContain('cores = "0-3"');
  expect(toml({ pod: { resources: { cpu: '3' } } })).toContain('cores = "0-2"');
  expect(toml({ flux: { cores: 8 } }, both)).toContain('cores = "0-7"');
});

test('lets the brokers of a cluster of fixed size without CPU amounts discover their resources if none comes back', () => {
  for (const more of [{}, { backoffLimit: 0 }, { size: 1, interactive: true }, { size: 1, backoffLimit: 1 }])
    expect(toml(more)).not.toContain('[resource]');
});

test.each<[string, Partial<MiniClusterSpec>]>([
  ['it may grow', { maxSize: 8 }],
  ['it starts with fewer', { minSize: 2 }],
  ['others may join', { flux: { bursting: { clusters: [{}] } } }],
  ['it is interactive', { interactive: true }],
  ['it is a StatefulSet', { interactive: true, workload: 'StatefulSet' }],
  ['its pods are replaced', { backoffLimit: 1 }],
])('takes the resources from a file without CPU amounts if %s', (_, more) => {
  expect(toml(more)).toContain('[resource]\nnoverify = true\npath = "/mnt/flux/config/etc/flux/system/R"');
  expect(files(more)['cluster_settings.sh']).toContain('resources=local');
});

test('lists hosts up to maxSize and sets the quorum to minSize, else to size', () => {
  const { 'config_broker.toml': config, 'cluster_broker.sh': broker } = files(
    { size: 4, minSize: 2, maxSize: 8 },
    cpu(1),
  );
  expect(config).toContain('{ host = "mc-[0-7]" }');
  expect(config).toContain('hosts = "mc-[0-7]"\ncores = "0"');
  expect(broker).toContain('-Sbroker.quorum=2');
  expect(files({ maxSize: 8 })['cluster_broker.sh']).toContain('-Sbroker.quorum=4');
});

test.each([
  ['lab', '.mc.lab.svc.cluster.local'],
  [undefined, '.mc'],
])('with fqdn the hosts are the DNS names of the pods in namespace %s', (namespace, domain) => {
  const config = toml({ network: { fqdn: true } }, cpu(1), namespace);
  expect(config).toContain('default_connect = "tcp://%h:%p"');
  expect(config).toContain(`{ host = "mc-[0-3]${domain}" }`);
  expect(config).toContain(`hosts = "mc-[0-3]${domain}"\ncores = "0"`);
});

test('lists a single host as a range', () => {
  expect(toml({ size: 1 })).toContain('{ host = "mc-[0-0]" }');
});

test('connects to the lead broker by the DNS name of a minimal Service', () => {
  const config = toml({ flux: { minimalService: true } }, {}, 'lab');
  expect(config).toContain(
    '{ host = "mc-0", connect = "tcp://mc.lab.svc.cluster.local:%p" },\n  { host = "mc-[1-3]" },',
  );
});

test('lists the hosts of clusters that may join after those of the cluster', () => {
  const bursting = { clusters: [{}, { name: 'far', size: 2 }] };
  const config = toml({ flux: { bursting } }, cpu(1));
  expect(config).toContain(
    '{ host = "mc-[0-3]" },\n  { host = "burst-0-[0-3]" },\n  { host = "far-[0-1]" },',
  );
  expect(config).toContain('hosts = "mc-[0-3],burst-0-[0-3],far-[0-1]"');
});

test('lists the hosts of a cluster that it joins first, with the address of the lead broker', () => {
  const leadBroker = { address: '10.0.0.1', name: 'main', port: 30000, size: 4 };
  const config = toml({ flux: { bursting: { leadBroker } } });
  expect(config).toContain(
    '{ host = "main-0", connect = "tcp://10.0.0.1:30000" },\n  { host = "main-[1-3]" },\n  { host = "mc-[0-3]" },',
  );
  const ipv6 = toml({ flux: { bursting: { leadBroker: { ...leadBroker, address: 'fd77::1' } } } });
  expect(ipv6).toContain('connect = "tcp://[fd77::1]:30000"');
  const lone = toml({ flux: { bursting: { leadBroker: { ...leadBroker, size: 1 } } } });
  expect(lone).toContain('{ host = "main-0", connect = "tcp://10.0.0.1:30000" },\n  { host = "mc-[0-3]" },');
});

test('keeps the configuration of the user unchanged and writes the resources where flux-operator does', () => {
  const brokerConfig = '[bootstrap]\nhosts = [{host="$(x)"}]';
  expect(toml({ flux: { brokerConfig } })).toBe(`${brokerConfig}\n`);
  expect(files({ flux: { brokerConfig } })['cluster_settings.sh']).toContain('resources=local');
});

test('leaves the timeout to Flux if connectTimeout is empty', () => {
  expect(toml({ flux: { connectTimeout: '' } })).not.toContain('connect_timeout');
});

test('sets the policies of Fluxion, or the simple scheduler', () => {
  expect(toml({ flux: { scheduler: { queuePolicy: 'easy', matchPolicy: 'lonodex' } } })).toMatch(
    /\[sched-fluxion-qmanager\]\nqueue-policy = "easy"\n\n\[sched-fluxion-resource\]\nmatch-policy = "lonodex"\n$/,
  );
  const simple = files({ flux: { scheduler: { simple: true } } });
  expect(simple['config_broker.toml']).toContain('[modules]\nalternatives.sched = "sched-simple"');
  expect(simple['cluster_settings.sh']).not.toContain('FLUX_RC_EXTRA');
});

test.each<[object, string, MiniClusterSpec['flux']?]>([
  [{ limits: { 'nvidia.com/gpu': 2 } }, '0-1'],
  [{ requests: { 'amd.com/gpu': '1' } }, '0'],
  [{ requests: { 'amd.com/gpu': 4 }, limits: { 'amd.com/gpu': 4 } }, '0-3'],
  [{ claims: [{ name: 'gpus' }] }, '0-7', { gpus: 8 }],
  [{ claims: [{ name: 'devices', request: 'gpu-0' }, { name: 'gpu' }, { name: 'nic' }] }, '0-1'],
])('offers the GPUs of the resources %j, with and without CPU amounts', (resources, gpus, flux = {}) => {
  expect(toml({ flux: { ...flux, cores: 1 } }, { resources })).toContain(`cores = "0"\ngpus = "${gpus}"\n`);
  expect(toml({ flux }, { resources })).toContain('path = "/mnt/flux/config/etc/flux/system/R"');
  expect(files({ flux }, { resources })['cluster_settings.sh']).toContain(`gpus=${gpus}\n`);
});
