/** The jobspec of a gang of several pod sets says of each what its own would say. */

import { countsInUnits, jobspecInUnits } from '../../runtime/jobspec/convert-units';
import { unsatisfiableText } from '../../runtime/jobspec/explain';
import { askOf, jobspecOf, shapeOf } from '../../runtime/jobspec/jobspec';
import type { PodSpec } from '../../runtime/jobspec/pod';
import {
  gangOf,
  hasPlacementRules,
  meetsConstraints,
  podSetsOf,
  type SetJobspec,
  setsOf,
  uniformOf,
  unitsOfAll,
  withoutConstraints,
} from '../../runtime/jobspec/pod-sets';

const units = { cpuMillis: 1000, memoryMiB: 1024 };

function set(name: string, pods: number, cpu: number, over: Partial<PodSpec> = {}): SetJobspec {
  const traits = { namespace: 'science', labels: { role: name } };
  const pod = { containers: [{ resources: { requests: { cpu } } }], ...over };
  return { name, traits, jobspec: jobspecOf({ pod, pods, walltime: 60, self: traits, units }) };
}

const driver = set('driver', 1, 1, { nodeSelector: { disk: 'ssd' }, terminationGracePeriodSeconds: 90 });
const workers = set('worker', 4, 3);
const gang = gangOf([driver, workers]);

test('the jobspec of one pod set is its own, so nothing changes for workloads that have one', () => {
  expect(gangOf([driver])).toBe(driver.jobspec);
  expect(podSetsOf(driver.jobspec)).toBeUndefined();
  expect(setsOf(driver.jobspec)).toEqual([driver.jobspec]);
});

test('a gang of several pod sets is never read as if it were its first one', () => {
  expect(() => askOf(gang)).toThrow('is not one slot per pod');
});

test('each pod set keeps its pods, units, constraints and requests', () => {
  const [first, second] = podSetsOf(gang)!;
  expect([first!.name, second!.name]).toEqual(['driver', 'worker']);
  expect(first!.traits).toEqual(driver.traits);
  for (const [got, given] of [
    [first!, driver],
    [second!, workers],
  ] as const) {
    expect(askOf(got.jobspec)).toEqual(askOf(given.jobspec));
    expect(got.jobspec.attributes.system).toEqual(given.jobspec.attributes.system);
    expect(got.jobspec.attributes.user?.requests).toEqual(given.jobspec.attributes.user?.requests);
  }
  expect(unitsOfAll(gang)).toEqual({ core: 13 });
});

test('what holds for the pods of one pod set holds for the gang', () => {
  expect(gang.attributes.user).toMatchObject({ graceSeconds: 90, units });
  const avoiding = { nodeSelector: {}, affinity: { podAntiAffinity: antiAffinity } };
  expect(hasPlacementRules(gang)).toBe(false);
  expect(hasPlacementRules(gangOf([driver, set('apart', 2, 1, avoiding)]))).toBe(true);
});

const antiAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: [
    { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { role: 'apart' } } },
  ],
};

test('a constraint of the whole gang narrows that of each pod set', () => {
  const more = { not: [{ hostlist: ['n1'] }] };
  const { system } = gang.attributes;
  const avoiding = { ...gang, attributes: { ...gang.attributes, system: { ...system, constraints: more } } };
  const [first, second] = setsOf(avoiding);
  expect(first!.attributes.system.constraints).toEqual({
    and: [more, driver.jobspec.attributes.system.constraints],
  });
  expect(second!.attributes.system.constraints).toEqual({
    and: [more, workers.jobspec.attributes.system.constraints],
  });
});

test('gangs that differ in the constraints or the pods of one pod set have other shapes', () => {
  const shapes = [
    gang,
    gangOf([set('driver', 1, 1), workers]),
    gangOf([driver, set('worker', 5, 3)]),
    gangOf([driver, set('worker', 4, 2)]),
  ].map(shapeOf);
  expect(new Set(shapes).size).toBe(4);
});

test('in other units each pod set asks for as much as before', () => {
  const finer = jobspecInUnits(gang, units, { cpuMillis: 100, memoryMiB: 1024 });
  expect(setsOf(finer).map((one) => askOf(one).perPod)).toEqual([{ core: 10 }, { core: 30 }]);
  expect(jobspecInUnits(finer, units, units)).toEqual(gang);
  const part = { name: 'n1', units: { core: '0-6' }, podSets: { driver: 1, worker: 2 } };
  expect(countsInUnits(part, gang, finer)).toEqual({ core: 70 });
});

test('as uniform pods it asks for the largest of each unit', () => {
  const uniform = uniformOf(gang);
  expect(askOf(uniform)).toEqual({ pods: 5, perPod: { core: 3 }, exclusive: false });
  expect(uniform.attributes.system.constraints).toEqual(driver.jobspec.attributes.system.constraints);
});

test('says which pod set can never start', () => {
  const nodes = [{ name: 'n1', units: { core: 6 }, properties: ['disk=ssd'] }];
  expect(unsatisfiableText(gang, nodes, units)).toBe(
    'pod set worker asks for 4 pods with 3 cores each, the cluster has room for 2',
  );
});

test('a grant suits the gang as long as each node meets what the pods that it was granted for ask', () => {
  const granted = [
    { name: 'fast', units: { core: '0' }, podSets: { driver: 1 } },
    { name: 'plain', units: { core: '0-11' }, podSets: { worker: 4 } },
  ];
  const nodes = new Map([
    ['fast', { name: 'fast', units: { core: 1 }, properties: ['disk=ssd'] }],
    ['plain', { name: 'plain', units: { core: 12 } }],
  ]);
  const suits = () => meetsConstraints(gang, granted, (name) => nodes.get(name));
  expect(suits()).toBe(true);
  nodes.set('fast', { name: 'fast', units: { core: 1 }, properties: [] });
  expect(suits()).toBe(false);
  expect(setsOf(withoutConstraints(gang)).map(({ attributes }) => attributes.system)).toEqual([
    { duration: 60 },
    { duration: 60 },
  ]);
});
