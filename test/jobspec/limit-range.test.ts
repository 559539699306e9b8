import { type LimitRangeFields, withLimitRanges } from '../../runtime/jobspec/limit-range';
import type { Container, PodSpec, Quantities } from '../../runtime/jobspec/pod';
import { podRequests } from '../../runtime/jobspec/requests';

const range = (defaultRequest: Quantities, type = 'Container'): LimitRangeFields => ({
  spec: { limits: [{ type, defaultRequest }] },
});
const requestsOf = (pod: PodSpec, ...ranges: readonly LimitRangeFields[]) =>
  Object.fromEntries(
    [...podRequests(withLimitRanges(pod, ranges))].map(([name, nano]) => [name, Number(nano) / 1e9]),
  );
const pod = (...containers: readonly Container[]): PodSpec => ({ containers });

test.each<[string, PodSpec, readonly LimitRangeFields[], object]>([
  ['each container without requests gets the default', pod({}, {}), [range({ cpu: '2' })], { cpu: 4 }],
  [
    'a request of its own stays',
    pod({ resources: { requests: { cpu: '500m' } } }),
    [range({ cpu: '2', memory: '64' })],
    { cpu: 0.5, memory: 64 },
  ],
  [
    'a limit of its own is its request',
    pod({ resources: { limits: { cpu: '3' } } }),
    [range({ cpu: '2' })],
    { cpu: 3 },
  ],
  [
    'init containers and sidecars get it, too',
    { containers: [{}], initContainers: [{ restartPolicy: 'Always' }, {}] },
    [range({ cpu: '1' })],
    { cpu: 2 },
  ],
  [
    'the sum of the containers does not count beside a request of the pod',
    { containers: [{}, {}], resources: { requests: { cpu: '1' } } },
    [range({ cpu: '2', memory: '10' })],
    { cpu: 1, memory: 20 },
  ],
  ['the largest of several counts', pod({}), [range({ cpu: '500m' }), range({ cpu: 1 })], { cpu: 1 }],
  ['limits of pods and claims are no defaults', pod({}), [range({ cpu: '2' }, 'Pod')], {}],
])('%s', (_, spec, ranges, expected) => expect(requestsOf(spec, ...ranges)).toEqual(expected));

test('a spec that gets nothing stays the same object', () => {
  const spec = pod({});
  expect(withLimitRanges(spec, [])).toBe(spec);
  expect(withLimitRanges(spec, [{ spec: { limits: [{ type: 'Container' }] } }])).toBe(spec);
});
