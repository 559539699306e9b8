import type { PodSpec } from '../../runtime/jobspec/pod';
import { podRequests } from '../../runtime/jobspec/requests';
import { InjectedRequests } from '../../runtime/workloads/injected';

const container = (name: string, cpu: string) => ({ name, resources: { requests: { cpu } } });
const template: PodSpec = { containers: [container('main', '2')], overhead: { cpu: '100m' } };
const real: PodSpec = { ...template, containers: [container('main', '2'), container('mesh', '1')] };
const coresOf = (pod: PodSpec) => Number(podRequests(pod).get('cpu')) / 1e9;

test('pods of a template are expected as the first one was', () => {
  const injected = new InjectedRequests();
  expect(injected.withAdded('science', template)).toBe(template);
  expect(injected.learn('science', template, real)).toBe(true);
  expect(coresOf(injected.withAdded('science', template))).toBe(3.1);
  expect(injected.learn('science', template, real)).toBe(false);
});

test('other namespaces and other templates are expected as they are', () => {
  const injected = new InjectedRequests();
  injected.learn('science', template, real);
  expect(injected.withAdded('other', template)).toBe(template);
  const another = { containers: [container('main', '4')] };
  expect(injected.withAdded('science', another)).toBe(another);
});

test('a pod without additions takes back what was known', () => {
  const injected = new InjectedRequests();
  injected.learn('science', template, real);
  expect(injected.learn('science', template, template)).toBe(true);
  expect(injected.withAdded('science', template)).toBe(template);
});

test('a pod that requests less than its template changes nothing', () => {
  const injected = new InjectedRequests();
  const less = { containers: [container('main', '1')] };
  expect(injected.learn('science', template, less)).toBe(false);
});
