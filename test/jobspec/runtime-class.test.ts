import type { PodSpec } from '../../runtime/jobspec/pod';
import { type RuntimeClassFields, withRuntimeClass } from '../../runtime/jobspec/runtime-class';

const KATA: RuntimeClassFields = {
  overhead: { podFixed: { cpu: '250m', memory: '120Mi' } },
  scheduling: {
    nodeSelector: { sandbox: 'kata' },
    tolerations: [{ key: 'sandbox', operator: 'Exists' }],
  },
};
const classes = (name: string) => ({ kata: KATA, plain: {} })[name];

test('a template gets the overhead, the node selector and the tolerations of its class', () => {
  const pod: PodSpec = {
    containers: [{}],
    runtimeClassName: 'kata',
    nodeSelector: { zone: 'a' },
    tolerations: [{ key: 'gpu', operator: 'Exists' }],
  };
  expect(withRuntimeClass(pod, classes)).toEqual({
    containers: [{}],
    overhead: { cpu: '250m', memory: '120Mi' },
    nodeSelector: { zone: 'a', sandbox: 'kata' },
    tolerations: [
      { key: 'gpu', operator: 'Exists' },
      { key: 'sandbox', operator: 'Exists' },
    ],
  });
});

test('a class without fields adds none', () => {
  const pod: PodSpec = { containers: [{}], runtimeClassName: 'plain' };
  expect(withRuntimeClass(pod, classes)).toEqual({ containers: [{}] });
});

test('a pod that has the fields of its class already needs the same', () => {
  const stored: PodSpec = { containers: [{}], runtimeClassName: 'kata', overhead: KATA.overhead!.podFixed! };
  expect(withRuntimeClass(stored, classes).overhead).toEqual(KATA.overhead!.podFixed);
});

test('a template without a class, or with a class that does not exist, stays as it is', () => {
  for (const pod of [{ containers: [{}] }, { containers: [{}], runtimeClassName: 'gone' }])
    expect(withRuntimeClass(pod, classes)).toBe(pod);
});
