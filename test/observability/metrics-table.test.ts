import {
  controllerRegistry,
  metricsOf,
  readerRegistry,
  table,
  webhookRegistry,
  writtenTable,
} from './metrics-table';

const METRICS = [
  ...metricsOf(controllerRegistry()),
  ...metricsOf(webhookRegistry()),
  ...metricsOf(readerRegistry()),
];

test('docs/metrics.md is up to date (npm run generate:metrics)', () => {
  expect(writtenTable()).toBe(table());
});

test.each(METRICS)('$name follows the conventions', ({ name, help, type, labelNames }) => {
  expect(name).toMatch(/^fluxqueue_[a-z]+(_[a-z]+)*$/);
  expect(name.endsWith('_total')).toBe(type === 'counter');
  if (type === 'histogram') expect(name).toMatch(/_(seconds|bytes)$/);
  expect(help).toMatch(/^[A-Z1].*\.$/);
  // What users name freely would make a series for each name; but of pods that do not end only the first 20 are told.
  const free =
    name === 'fluxqueue_lingering_pods'
      ? []
      : ['pod_namespace', 'pod_name', 'name', 'user', 'uid', 'node', 'message'];
  // Prometheus overwrites those that it gives to the series of a pod itself.
  const ofTargets = ['namespace', 'pod', 'container', 'job', 'instance', 'endpoint'];
  expect((labelNames ?? []).filter((label) => [...free, ...ofTargets].includes(label))).toEqual([]);
});
