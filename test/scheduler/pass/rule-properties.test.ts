/** Random workloads with rules: whatever is granted, kube-scheduler would accept each pod. */

import { askOf } from '../../../runtime/jobspec/jobspec';
import type { PodSpec } from '../../../runtime/jobspec/pod';
import { podsPerNode } from '../../../runtime/jobspec/pods-per-node';
import fc from '../../fast-check';
import type { JobOptions } from './job-options';
import { other, zones } from './rules';
import { Simulation } from './simulation';

const HOST = 'kubernetes.io/hostname';
const app = fc.constantFrom('web', 'db');
const key = fc.constantFrom(HOST, 'zone');

const rule = fc.oneof(
  fc.constant<Partial<PodSpec>>({}),
  fc.record({ key, app }).map(
    ({ key: topologyKey, app: value }): Partial<PodSpec> => ({
      affinity: { podAntiAffinity: terms(topologyKey, value) },
    }),
  ),
  fc.record({ key, app }).map(
    ({ key: topologyKey, app: value }): Partial<PodSpec> => ({
      affinity: { podAffinity: terms(topologyKey, value) },
    }),
  ),
  fc.record({ key, app, maxSkew: fc.integer({ min: 1, max: 2 }) }).map(
    ({ key: topologyKey, app: value, maxSkew }): Partial<PodSpec> => ({
      topologySpreadConstraints: [
        {
          topologyKey,
          maxSkew,
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { app: value } },
        },
      ],
    }),
  ),
  fc.integer({ min: 80, max: 81 }).map(
    (hostPort): Partial<PodSpec> => ({
      containers: [{ resources: { requests: { cpu: 1 } }, ports: [{ hostPort }] }],
    }),
  ),
);

function terms(topologyKey: string, value: string) {
  return {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey, labelSelector: { matchLabels: { app: value } } },
    ],
  };
}

const job = fc.record({
  pods: fc.integer({ min: 1, max: 4 }),
  walltime: fc.integer({ min: 1, max: 50 }),
  at: fc.integer({ min: 0, max: 60 }),
  app,
  rule,
});

interface Placed {
  readonly uid: string;
  readonly node: string;
  readonly app: string;
  readonly rule: Partial<PodSpec>;
}

const groupOf = (node: string, topologyKey: string) => (topologyKey === HOST ? node : node[0]!);
const appOf = (labelSelector: { matchLabels?: Readonly<Record<string, string>> } | undefined) =>
  labelSelector?.matchLabels?.app;
const portsOf = ({ containers = [] }: Partial<PodSpec>) =>
  containers.flatMap(({ ports = [] }) => ports.map(({ hostPort }) => hostPort));

/** What kube-scheduler would refuse of the pods of `uid`, written without the planner. */
function violations(pods: readonly Placed[], uid: string, nodes: readonly string[]): string[] {
  const own = pods.filter((pod) => pod.uid === uid);
  const pairs = pods.flatMap((pod) =>
    pods.filter((peer) => peer !== pod).map((peer) => [pod, peer] as const),
  );
  return [
    ...pairs
      .filter(([pod, peer]) => pod.uid === uid || peer.uid === uid)
      .filter(([pod, peer]) => sharePort(pod, peer) || avoids(pod, peer))
      .map(([pod, peer]) => `${pod.uid} refuses ${peer.uid} on ${pod.node}`),
    ...own.filter((pod) => isAlone(pod, pods)).map(({ node }) => `${uid} is alone on ${node}`),
    ...own.filter((pod) => isSkewed(pod, pods, nodes)).map(({ node }) => `${uid} is skewed on ${node}`),
  ];
}

function sharePort(pod: Placed, peer: Placed): boolean {
  return pod.node === peer.node && portsOf(pod.rule).some((port) => portsOf(peer.rule).includes(port));
}

function avoids({ node, rule: { affinity } }: Placed, peer: Placed): boolean {
  return (affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).some(
    ({ topologyKey, labelSelector }) =>
      appOf(labelSelector) === peer.app && groupOf(node, topologyKey) === groupOf(peer.node, topologyKey),
  );
}

function isAlone({ node, rule: { affinity } }: Placed, pods: readonly Placed[]): boolean {
  return (affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).some(
    ({ topologyKey, labelSelector }) =>
      !pods.some(
        (peer) =>
          appOf(labelSelector) === peer.app && groupOf(peer.node, topologyKey) === groupOf(node, topologyKey),
      ),
  );
}

function isSkewed(
  { node, app: own, rule }: Placed,
  pods: readonly Placed[],
  nodes: readonly string[],
): boolean {
  return (rule.topologySpreadConstraints ?? []).some(({ topologyKey, labelSelector, maxSkew }) => {
    const counted = pods.filter((peer) => appOf(labelSelector) === peer.app);
    const count = (at: string) =>
      counted.filter((peer) => groupOf(peer.node, topologyKey) === groupOf(at, topologyKey)).length;
    return appOf(labelSelector) === own && count(node) - Math.min(...nodes.map(count)) > maxSkew;
  });
}

test('every grant holds beside the pods that are there, and no unit is granted twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(job, { minLength: 1, maxLength: 8 }),
      fc.array(app, { maxLength: 2 }),
      async (jobs, apps) => {
        const nodes = zones({ a: 2, b: 2, c: 1 }, 3);
        const names = nodes.map(({ name }) => name);
        const sim = await Simulation.of(nodes);
        sim.others.push(...apps.map((value, i) => other(names[i]!, { labels: { app: value } })));
        const outside = apps.map(
          (value, i): Placed => ({ uid: `other-${i}`, node: names[i]!, app: value, rule: {} }),
        );
        const given = new Map(jobs.map((one, i) => [`job-${i}`, one]));
        let seen = 0;
        const arrivals = jobs.map(({ at, pods, walltime, app: value, rule: pod }, i) => ({
          at: 1_000 + at,
          submit: () => {
            const options: JobOptions = { pods, walltime, labels: { app: value }, pod };
            sim.submit(`job-${i}`, options);
          },
        }));
        await sim.run(arrivals, async () => {
          const placed = sim.running().flatMap(({ uid, allocation }): Placed[] => {
            const { app: value, rule: pod } = given.get(uid)!;
            return podsPerNode(allocation, askOf(sim.row(uid).jobspec)).flatMap(({ node, pods }) =>
              Array.from({ length: pods }, () => ({ uid, node, app: value, rule: pod })),
            );
          });
          for (const { uid } of sim.started.slice(seen)) {
            // Pods of later grants of the same pass are left out: they came after it.
            const later = new Set(
              sim.started.slice(sim.started.findIndex((one) => one.uid === uid) + 1).map((one) => one.uid),
            );
            expect(
              violations([...outside, ...placed.filter((pod) => !later.has(pod.uid))], uid, names),
            ).toEqual([]);
          }
          seen = sim.started.length;
        });
        expect(sim.doubleGrants()).toEqual([]);
      },
    ),
    { numRuns: 150 },
  );
});
