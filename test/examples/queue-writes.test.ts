/**
 * What the queue writes into the Jobs of the examples: nothing that a manifest in Git has with another value, because an engine
 * would see a difference that its next sync cannot remove.
 */
import { HOLD } from '../../constructs/api/labels';
import { QUEUE_DEFAULTS } from '../../constructs/api/queue-defaults';
import { admitJob } from '../../runtime/admission/jobs';
import { askOf } from '../../runtime/jobspec/jobspec';
import type { Job } from '../../runtime/kubernetes/types';
import type { Queue } from '../../runtime/queue/store';
import type { Submission } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { jobAdapter } from '../../runtime/workloads/job';
import { applyPatch } from '../admission/json-patch';
import type { KubeObject } from '../cluster/api';
import { applyJsonPatch, type Operation } from '../fuzz/json-patch';
import { rowIn } from '../queue/rows';
import { defaultSubmissions } from '../workloads/default-submissions';
import { example, FILES } from './miniclusters';

async function submissionOf(job: Job): Promise<Submission> {
  const submitted: Submission[] = [];
  const submit = async (_fence: number, all: readonly Submission[]) => {
    submitted.push(...all);
    return [];
  };
  const cache = new WorkloadCache({ submit, outcomes: async () => [] } as unknown as Queue, 1);
  const invalid: string[] = [];
  await defaultSubmissions(cache, (_object, _adapter, why) => invalid.push(why)).submit(job, jobAdapter);
  expect(invalid).toEqual([]);
  return submitted[0]!;
}

/** The Job as the apiserver has it after its release, or while its user holds it. */
async function released(manifest: KubeObject): Promise<Job & KubeObject> {
  const admitted = applyPatch(manifest, admitJob(manifest, 'ada'));
  const stored = { uid: 'u', generation: 1, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  const job = { ...admitted, metadata: { ...admitted.metadata, ...stored } } as unknown as Job;
  if (job.metadata.labels?.[HOLD] === 'true') return job as Job & KubeObject;
  const submission = await submissionOf(job);
  const units = Object.keys(askOf(submission.jobspec).perPod).map((type) => [type, '0-99999']);
  const node = { name: 'node-1', exclusive: true, units: Object.fromEntries(units) };
  const allocation = { jobid: 7, start: 0, end: 60, nodes: [node] };
  const patch = jobAdapter.releasePatch(job, rowIn('Ready', { ...submission, allocation }))!;
  return applyJsonPatch(job, patch.body as Operation[]) as unknown as Job & KubeObject;
}

/** The fields of Git that the live object has with another value. */
function differences(git: unknown, live: unknown, path = ''): string[] {
  if (typeof git !== 'object' || git === null)
    return Object.is(git, live) ? [] : [`${path}: ${git} in Git, ${live} live`];
  return Object.entries(git).flatMap(([key, value]) =>
    differences(value, (live as Record<string, unknown> | undefined)?.[key], `${path}/${key}`),
  );
}

const jobs = FILES.flatMap((file) =>
  example(file)
    .objects.filter(({ kind }) => kind === 'Job')
    .map((manifest) => [manifest.metadata.name!, manifest] as const),
);

test.each(jobs)('the queue overwrites nothing of Job %s in Git', async (_, manifest) => {
  expect(differences(manifest, await released(manifest))).toEqual([]);
});

test('a MiniCluster that asks for no walltime has that of its queue', async () => {
  const [, hello] = jobs.find(([name]) => name === 'hello')!;
  expect((await released(hello)).spec).toMatchObject({
    // An hour for its start.
    activeDeadlineSeconds: QUEUE_DEFAULTS.defaultWalltimeSeconds + 3_600,
  });
});
