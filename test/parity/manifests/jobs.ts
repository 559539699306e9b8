/** Jobs in every completion mode, CronJobs and bare pods. */
import type { KubeObject } from '../../cluster/api';
import { cronJob, job, pod } from '../../stack/manifests';
import type { Case } from '../case';

const ends = { runs: '300ms' };
const exits = (code: number, index?: number) => ({
  'fluxqueue.test/exit-code': String(code),
  ...(index === undefined ? {} : { 'fluxqueue.test/exit-code-index': String(index) }),
});

const oneAtATime = (cron: KubeObject): KubeObject => ({
  ...cron,
  spec: { ...(cron.spec as object), concurrencyPolicy: 'Forbid' },
});

export const JOB_CASES: readonly Case[] = [
  {
    name: 'single',
    manifests: () => [job('single', ends)],
    expected: { succeeded: 1 },
  },
  {
    name: 'gang',
    manifests: () => [job('gang', { pods: 4, requests: { cpu: '3' } })],
    expected: { running: 4, nodes: 4 },
  },
  {
    name: 'packed-gang',
    manifests: () => [job('packed-gang', { pods: 4 })],
    expected: { running: 4 },
  },
  {
    name: 'indexed-waves',
    manifests: () => [job('indexed-waves', { ...ends, pods: 2, spec: { completions: 6 } })],
    expected: { succeeded: 6 },
  },
  {
    name: 'non-indexed',
    manifests: () => [job('non-indexed', { ...ends, pods: 3, spec: { completionMode: 'NonIndexed' } })],
    expected: { succeeded: 3 },
  },
  {
    name: 'work-queue',
    manifests: () => [
      job('work-queue', {
        ...ends,
        requests: { cpu: '3' },
        spec: { completionMode: 'NonIndexed', completions: null, parallelism: 3 },
      }),
    ],
    expected: { succeeded: 3, nodes: 3 },
  },
  {
    name: 'parallel-zero',
    manifests: () => [job('parallel-zero', { spec: { parallelism: 0, completions: 2 } })],
    expected: {},
  },
  {
    name: 'suspended',
    manifests: () => [job('suspended', { spec: { suspend: true } })],
    expected: {},
  },
  {
    name: 'failing',
    manifests: () => [job('failing', { ...ends, podAnnotations: exits(3), spec: { backoffLimit: 0 } })],
    expected: { failed: 1 },
  },
  {
    name: 'index-limit',
    manifests: () => [
      job('index-limit', {
        ...ends,
        pods: 3,
        requests: { cpu: '3' },
        podAnnotations: exits(3, 1),
        spec: { backoffLimitPerIndex: 0, maxFailedIndexes: 3 },
      }),
    ],
    expected: { succeeded: 2, failed: 1, nodes: 3 },
  },
  {
    name: 'failure-policy',
    manifests: () => [
      job('failure-policy', {
        ...ends,
        podAnnotations: exits(42),
        spec: {
          podFailurePolicy: {
            rules: [
              { action: 'FailJob', onExitCodes: { containerName: 'main', operator: 'In', values: [42] } },
            ],
          },
        },
      }),
    ],
    expected: { failed: 1 },
  },
  {
    name: 'success-policy',
    manifests: () => [
      job('success-policy', {
        ...ends,
        pods: 2,
        requests: { cpu: '3' },
        spec: { successPolicy: { rules: [{ succeededIndexes: '0-1' }] } },
      }),
    ],
    expected: { succeeded: 2, nodes: 2 },
  },
  {
    name: 'deadline',
    manifests: () => [job('deadline', { spec: { activeDeadlineSeconds: 600 } })],
    expected: { running: 1 },
  },
  {
    name: 'ttl',
    manifests: () => [job('ttl', { ...ends, spec: { ttlSecondsAfterFinished: 600 } })],
    expected: { succeeded: 1 },
  },
  {
    name: 'replacement',
    manifests: () => [job('replacement', { ...ends, spec: { podReplacementPolicy: 'Failed' } })],
    expected: { succeeded: 1 },
  },
  {
    name: 'cron',
    // A slow machine needs more than a minute.
    manifests: () => [oneAtATime(cronJob('cron', '* * * * *', { runs: '1h', spec: { parallelism: 1 } }))],
    expected: { running: 1 },
  },
  {
    name: 'bare',
    manifests: () => [pod('bare', ends)],
    expected: { succeeded: 1 },
  },
  {
    name: 'bare-always',
    manifests: () => [pod('bare-always', { spec: { restartPolicy: 'Always' } })],
    expected: { running: 1 },
  },
];
