/** docs/network.md, the NetworkPolicies and the ports that manifests and programs use are the same list. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'cdk8s';
import { Secret } from 'cdk8s-plus-28';
import { Database, type FluxQueueProps } from '../../../constructs/fluxqueue/index';
import type { KubeObject } from '../../cluster/api';
import { configurationOf, container, find, podTemplates, stackObjects } from '../manifests';

const ALL: FluxQueueProps = {
  kubernetesVersion: '1.35.2',
  scheduler: true,
  admission: 'webhook',
  monitoringNamespace: 'monitoring',
};
const objects = stackObjects(ALL);

interface Peer {
  readonly podSelector?: { matchLabels: Record<string, string> };
  readonly namespaceSelector?: { matchLabels: Record<string, string> };
  readonly ipBlock?: { cidr: string };
}
interface Rule {
  readonly from?: Peer[];
  readonly to?: Peer[];
  readonly ports: { port: number; protocol: string }[];
}
interface Policy extends KubeObject {
  readonly spec: {
    podSelector: { matchLabels?: Record<string, string> };
    policyTypes: string[];
    ingress?: Rule[];
    egress?: Rule[];
  };
}

const COMPONENT = 'app.kubernetes.io/component';
const policiesOf = (of: readonly KubeObject[]) =>
  of.filter(({ kind }) => kind === 'NetworkPolicy') as Policy[];
const componentOf = ({ spec }: Policy) => spec.podSelector.matchLabels?.[COMPONENT] ?? 'none';

function peerName({ podSelector, namespaceSelector, ipBlock }: Peer): string {
  if (ipBlock !== undefined) return ipBlock.cidr;
  if (podSelector !== undefined) return podSelector.matchLabels[COMPONENT] ?? 'none';
  expect(namespaceSelector?.matchLabels).toEqual({ 'kubernetes.io/metadata.name': 'monitoring' });
  return 'monitoringNamespace';
}

/** `FROM > TO PORT/PROTOCOL` of each path. A path between two pods needs a rule at both ends. */
function pathsOf(policies: readonly Policy[], direction: 'ingress' | 'egress'): string[] {
  return policies.flatMap((policy) =>
    (policy.spec[direction] ?? []).flatMap(({ from, to, ports }) => {
      const peers = (from ?? to)?.map(peerName) ?? ['anywhere'];
      const own = componentOf(policy);
      return peers.flatMap((peer) =>
        ports.map(({ port, protocol }) =>
          direction === 'ingress'
            ? `${peer} > ${own} ${port}/${protocol}`
            : `${own} > ${peer} ${port}/${protocol}`,
        ),
      );
    }),
  );
}

function documented(): string[] {
  const text = readFileSync(join(__dirname, '../../../docs/network.md'), 'utf8');
  const rows = [...text.matchAll(/^\| ([\w]+) \| ([\w]+) \| (\d+\/(?:TCP|UDP)) \|/gm)];
  return rows.map(([, from, to, port]) => `${from} > ${to} ${port}`);
}

test('docs/network.md lists exactly the paths that the policies allow', () => {
  const policies = policiesOf(objects);
  const allowed = new Set([...pathsOf(policies, 'ingress'), ...pathsOf(policies, 'egress')]);
  expect(documented().sort()).toEqual([...allowed].sort());
});

test('a path between two components is allowed at both ends', () => {
  const policies = policiesOf(objects);
  const inside = (path: string) => !/anywhere|monitoringNamespace/.test(path);
  const ingress = pathsOf(policies, 'ingress').filter(inside);
  expect(ingress).toEqual(['controller > database 5432/TCP', 'reader > database 5432/TCP']);
  expect(pathsOf(policies, 'egress').filter(inside)).toEqual(ingress);
});

test('everything else is denied to every pod of the namespace, in both directions', () => {
  const deny = find<Policy>(objects, 'NetworkPolicy', 'fluxqueue-default-deny');
  expect(deny.spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
  for (const { metadata, spec } of policiesOf(objects)) {
    expect([metadata.name, metadata.namespace]).toEqual([metadata.name, 'fluxqueue-system']);
    expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
  }
});

test('each pod of the stack has one policy of its own', () => {
  const selectors = policiesOf(objects).map(({ spec }) => spec.podSelector.matchLabels ?? {});
  for (const { owner, metadata } of podTemplates(objects)) {
    const own = selectors.filter(
      (labels) =>
        Object.keys(labels).length > 0 &&
        Object.entries(labels).every(([key, value]) => metadata.labels[key] === value),
    );
    expect([owner, own.length]).toEqual([owner, 1]);
  }
  expect(policiesOf(objects)).toHaveLength(podTemplates(objects).length + 1);
});

/** Ports of containers that only the kubelet's probes use. */
function probePorts(): number[] {
  return podTemplates(objects)
    .flatMap(({ spec }) => spec.containers)
    .flatMap(({ startupProbe, livenessProbe, readinessProbe }) =>
      [startupProbe, livenessProbe, readinessProbe].flatMap((probe) => probe?.httpGet?.port ?? []),
    )
    .map(Number);
}

test('every port of a container is reached by a path, or by the probes of the kubelet', () => {
  const ingress = pathsOf(policiesOf(objects), 'ingress');
  for (const { metadata, spec } of podTemplates(objects)) {
    const component = metadata.labels[COMPONENT];
    const ports = spec.containers.flatMap(({ ports = [] }) =>
      ports.map(({ containerPort }) => containerPort),
    );
    const unreached = ports.filter(
      (port) => !ingress.some((path) => path.endsWith(`> ${component} ${port}/TCP`)),
    );
    expect([component, unreached.filter((port) => !probePorts().includes(port))]).toEqual([component, []]);
    const allowed = ingress.filter((path) => path.includes(`> ${component} `));
    for (const path of allowed) expect(ports).toContain(Number(/ (\d+)\//.exec(path)?.[1]));
  }
});

test('the ports of Services, of the URL of the database and of the programs are those of the policies', () => {
  const ingress = pathsOf(policiesOf(objects), 'ingress');
  for (const { metadata, spec } of objects.filter(({ kind }) => kind === 'Service')) {
    const { selector, ports } = spec as { selector: Record<string, string>; ports: { targetPort: string }[] };
    const template = podTemplates(objects).find(
      ({ metadata: { labels } }) => labels[COMPONENT] === selector[COMPONENT],
    );
    const found = template?.spec.containers
      .flatMap((each) => each.ports ?? [])
      .find(({ name }) => name === ports[0]?.targetPort);
    expect([
      metadata.name,
      ingress.some((path) => path.endsWith(`> ${selector[COMPONENT]} ${found?.containerPort}/TCP`)),
    ]).toEqual([metadata.name, true]);
  }
  const database = podTemplates(objects).find(({ owner }) => owner === 'fluxqueue-database')!;
  const url = container(database, 'password').command?.find((word) => word.startsWith('postgres://'));
  expect(new URL(url ?? '').port).toBe('5432');
  const { webhook, reader, http, metrics, fluxion, miniClusters } = configurationOf(objects);
  expect([webhook.port, reader.port, http.port, metrics]).toEqual([
    9443,
    9445,
    8080,
    { host: '', port: 9464 },
  ]);
  expect(miniClusters.reports.port).toBe(8444);
  expect(fluxion.address).toMatch(/^unix:/);
});

describe('the props', () => {
  const existing = Database.fromSecret(Secret.fromSecretName(new App(), 'db', 'db'), { port: 6432 });

  test('networkPolicies: false leaves the policies out', () => {
    expect(policiesOf(stackObjects({ networkPolicies: false }))).toEqual([]);
    expect(policiesOf(stackObjects({ externalRuntime: {}, admission: 'policies' }))).toEqual([]);
  });

  test('an existing database is reached at any address, at its port', () => {
    const egress = pathsOf(policiesOf(stackObjects({ database: existing })), 'egress');
    expect(egress).toContain('controller > anywhere 6432/TCP');
    expect(egress.filter((path) => path.includes('database'))).toEqual([]);
  });

  test('apiserverPorts replaces the ports of the apiserver for every component', () => {
    const egress = pathsOf(policiesOf(stackObjects({ ...ALL, apiserverPorts: [16443] })), 'egress');
    expect(egress.filter((path) => path.includes('16443'))).toHaveLength(5);
    expect(egress.filter((path) => /443/.test(path) && !path.includes('16443'))).toEqual([]);
  });

  test('with apiserverCidrs the apiserver alone reaches webhook and reader', () => {
    const apiserverCidrs = ['10.0.0.0/28', 'fd00::1/128'];
    const ingress = pathsOf(policiesOf(stackObjects({ ...ALL, apiserverCidrs })), 'ingress');
    expect(ingress.filter((path) => / 944[35]/.test(path)).sort()).toEqual([
      '10.0.0.0/28 > reader 9445/TCP',
      '10.0.0.0/28 > webhook 9443/TCP',
      'fd00::1/128 > reader 9445/TCP',
      'fd00::1/128 > webhook 9443/TCP',
    ]);
    expect(ingress).toContain('monitoringNamespace > webhook 9464/TCP');
  });

  test.each<[FluxQueueProps, RegExp]>([
    [{ apiserverCidrs: ['10.0.0.1'] }, /apiserverCidrs\[0\]: must be a range of addresses in CIDR notation/],
    [{ apiserverCidrs: ['10.0.0.0/28', '10.0.0.0/33'] }, /apiserverCidrs\[1\]: must be a range/],
    [{ apiserverCidrs: ['10.0.0.0/08'] }, /apiserverCidrs\[0\]: must be a range/],
    [{ apiserverCidrs: ['fe80::1%eth0/64'] }, /apiserverCidrs\[0\]: must be a range/],
    [{ apiserverCidrs: ['api.example.com/32'] }, /apiserverCidrs\[0\]: must be a range/],
    [{ apiserverCidrs: [] }, /apiserverCidrs: must not be empty/],
    [{ apiserverCidrs: ['10.0.0.0/28'], networkPolicies: false }, /apiserverCidrs: is for NetworkPolicies/],
    [
      { apiserverCidrs: ['10.0.0.0/28'], admission: 'policies', readApi: false, kubernetesVersion: '1.36.0' },
      /apiserverCidrs: has no effect, because the apiserver calls neither/,
    ],
    [{ apiserverCidrs: ['10.0.0.0/28'], externalRuntime: {} }, /apiserverCidrs: has no effect/],
    [{ apiserverPorts: [443], externalRuntime: {} }, /apiserverPorts: has no effect/],
  ])('%j is refused', (props, message) => {
    expect(() => stackObjects(props)).toThrow(message);
  });

  test('without monitoringNamespace metrics are on loopback and no path leads to them', () => {
    const defaults = stackObjects();
    expect(configurationOf(defaults).metrics.host).toBe('127.0.0.1');
    expect(pathsOf(policiesOf(defaults), 'ingress').sort()).toEqual([
      'anywhere > controller 8444/TCP',
      'anywhere > reader 9445/TCP',
      'anywhere > webhook 9443/TCP',
      'controller > database 5432/TCP',
      'reader > database 5432/TCP',
    ]);
  });

  test('monitoringNamespace is refused without policies, because every pod could read the metrics then', () => {
    expect(() => stackObjects({ networkPolicies: false, monitoringNamespace: 'monitoring' })).toThrow(
      /FluxQueue\.monitoringNamespace: requires networkPolicies/,
    );
  });
});
