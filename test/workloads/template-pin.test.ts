/** The node that a release writes into the template of a Job whose pods all go to it. */
import { InternPool } from '../../runtime/intern';
import type { Job, PodSpec } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { projectJob, type WatchedJob } from '../../runtime/shared/job-projection';
import { affinityTo } from '../../runtime/shared/template-pin';
import { jobAdapter } from '../../runtime/workloads/job';
import { applyJsonPatch, type Operation } from '../fuzz/json-patch';
import { rowIn } from '../queue/rows';
import { submission } from '../queue/submission';

const TIME = '2026-01-01T00:00:10Z';
type Affinity = NonNullable<PodSpec['affinity']>;

function job(affinity?: Affinity, metadata: object = {}): Job {
  return {
    metadata: {
      ...{ name: 'train', namespace: 'science', uid: 'u', resourceVersion: '1', generation: 1 },
      creationTimestamp: TIME,
      ...metadata,
    },
    spec: {
      ...{ suspend: true, completions: 2, parallelism: 2, completionMode: 'Indexed' as const },
      template: { spec: { containers: [], ...(affinity !== undefined && { affinity }) } },
    },
  };
}

function granted(...nodes: readonly string[]): WorkloadRow {
  return rowIn('Running', {
    ...submission('a', { pods: 2 }),
    allocation: {
      ...{ jobid: 7, start: 0, end: 60 },
      nodes: nodes.map((name) => ({ name, units: { core: nodes.length === 1 ? '0-1' : '0', memory: '0' } })),
    },
  });
}

const watched = (object: Job): WatchedJob => projectJob(object, new InternPool());
/** As the apiserver has the Job after its release, and as the Job controller suspends it again. */
const released = (object: Job, ...nodes: readonly string[]): Job =>
  applyJsonPatch(
    object,
    jobAdapter.releasePatch(watched(object), granted(...nodes)).body as readonly Operation[],
  )!;
const again = (object: Job): Job => ({ ...object, spec: { ...object.spec, suspend: true } });
const edited = (object: Job, affinity: Affinity): Job => ({
  ...object,
  spec: { ...object.spec, template: { ...object.spec.template, spec: { containers: [], affinity } } },
});
const stateOf = ({ spec: { template } }: Job) => ({
  affinity: template.spec.affinity,
  pinned: template.metadata?.annotations?.['fluxqueue/pinned'],
});

const rack = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'rack' }] };
const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1 }] };
const pinnedTo = (node: string) => ({ affinity: affinityTo(node), pinned: 'true' });

describe('the template of a Job', () => {
  test('has the only node of the grant, and is read without it', () => {
    const pinned = released(job(), 'node-1');
    expect(stateOf(pinned)).toEqual(pinnedTo('node-1'));
    expect(watched(pinned)).toMatchObject({ isPinned: true });
    expect(watched(pinned).spec.template.spec).toEqual(watched(job()).spec.template.spec);
    expect(jobAdapter.demand(watched(again(pinned)))).toEqual({
      ...jobAdapter.demand(watched(job())),
      deadlineSeconds: undefined,
    });
  });

  test.each([
    ['several nodes', job(), ['node-1', 'node-2']],
    ['an affinity of its user', job({ podAffinity: rack }), ['node-1']],
    ["its user's own pin", job(affinityTo('node-1')), ['node-1']],
    [
      'a MiniCluster that has the template',
      job(undefined, {
        ownerReferences: [{ apiVersion: 'x/v1', kind: 'MiniCluster', name: 'm', uid: 'm', controller: true }],
      }),
      ['node-1'],
    ],
    ['a gang', job(undefined, { annotations: { 'fluxqueue/gang-size': '2' } }), ['node-1']],
  ])('stays as it is with %s', (_, object, nodes) => {
    const after = released(object, ...nodes);
    expect(stateOf(after)).toEqual(stateOf(object));
    expect(watched(after).spec.template.spec.affinity).toEqual(object.spec.template.spec.affinity);
    expect(watched(after).isPinned).toBeUndefined();
  });

  test('has no node after a release that was refused with one', () => {
    const unpinned = (object: Job) => {
      const { body } = jobAdapter.releasePatch(watched(object), granted('node-1'), true);
      return stateOf(applyJsonPatch(object, body as readonly Operation[])!);
    };
    const none = { affinity: undefined, pinned: undefined };
    expect([unpinned(job()), unpinned(again(released(job(), 'node-1')))]).toEqual([none, none]);
  });

  test('has the node of the next grant after the next release, or none', () => {
    const waiting = again(released(job(), 'node-1'));
    expect(stateOf(released(waiting, 'node-2'))).toEqual(pinnedTo('node-2'));
    expect(stateOf(released(waiting, 'node-2', 'node-3'))).toEqual({
      affinity: undefined,
      pinned: undefined,
    });
  });

  test.each<[string, Affinity, Affinity]>([
    ['another affinity', { podAffinity: rack }, { podAffinity: rack }],
    ['another pin', affinityTo('node-9'), affinityTo('node-9')],
    [
      'more than the pin',
      { ...affinityTo('node-1'), podAffinity: rack },
      { podAffinity: rack, nodeAffinity: {} },
    ],
    [
      'preferred nodes beside the pin',
      { nodeAffinity: { ...affinityTo('node-1').nodeAffinity, ...preferred } } as Affinity,
      { nodeAffinity: preferred },
    ],
  ])('is that of its user, who writes %s while it waits', (_, written, left) => {
    const after = released(edited(again(released(job(), 'node-1')), written), 'node-2');
    expect(stateOf(after)).toEqual({ affinity: left, pinned: undefined });
  });

  test('of a Job whose user adds a condition to the pin keeps both', () => {
    const [term] =
      affinityTo('node-1').nodeAffinity!.requiredDuringSchedulingIgnoredDuringExecution!.nodeSelectorTerms;
    const zone = { key: 'zone', operator: 'In', values: ['a'] } as const;
    const both = {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ ...term, matchExpressions: [zone] }],
        },
      },
    };
    const waiting = edited(again(released(job(), 'node-1')), both);
    expect(watched(waiting).spec.template.spec.affinity).toEqual(both);
    expect(stateOf(released(waiting, 'node-1'))).toEqual({ affinity: both, pinned: undefined });
  });
});
