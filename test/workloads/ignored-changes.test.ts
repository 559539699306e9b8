import {
  AFTER,
  CHECKPOINT_INTERVAL,
  EXCLUSIVE,
  GANG_SIZE,
  GROUP,
  GROUP_SIZE,
  HOLD,
  IGNORED_ANNOTATION,
  PREEMPTIBLE,
  PRIORITY,
  QUEUE,
  WALLTIME,
} from '../../constructs/api/labels';
import { ignoredChanges, mayChangeOtherwise } from '../../runtime/workloads/ignored-changes';
import { rowIn } from '../queue/rows';

const row = rowIn('Running', { kind: 'Job', priority: 0, walltime: 3_600 });
const annotated = (annotations: Record<string, string>) => ({ annotations });
function noting(user: object) {
  const { attributes } = row.jobspec;
  return {
    ...row,
    jobspec: { ...row.jobspec, attributes: { ...attributes, user: { ...attributes.user, ...user } } },
  };
}

describe('changes of a started Job that have no effect', () => {
  test.each<[Record<string, string>, readonly string[]]>([
    [{}, []],
    [{ [PRIORITY]: '0', [WALLTIME]: '1h', [HOLD]: 'false' }, []],
    [
      { [IGNORED_ANNOTATION]: 'fluxqueue/user,parallelism,podReplacementPolicy' },
      [
        'spec.parallelism cannot be increased after the queue started the Job',
        'spec.podReplacementPolicy cannot be changed after the queue started the Job',
      ],
    ],
    [{ [PRIORITY]: '5' }, ['fluxqueue/priority 5 has no effect on a Job that the queue started with 0']],
    [{ [WALLTIME]: '2h' }, ['fluxqueue/walltime 2h has no effect on a Job that the queue started with 1h']],
    [{ [PREEMPTIBLE]: 'true' }, ['fluxqueue/preemptible has no effect on a Job that the queue started']],
    [
      { [CHECKPOINT_INTERVAL]: '30m' },
      ['fluxqueue/checkpoint-interval has no effect on a Job that the queue started'],
    ],
    [{ [QUEUE]: 'night' }, ['fluxqueue/queue night has no effect on a Job that the queue started']],
    [{ [EXCLUSIVE]: 'true' }, ['fluxqueue/exclusive has no effect on a Job that the queue started']],
    [{ [AFTER]: 'prepare' }, ['fluxqueue/after has no effect on a Job that the queue started']],
    [{ [QUEUE]: row.queue, [EXCLUSIVE]: 'false' }, []],
    [
      { [HOLD]: 'true' },
      [
        'fluxqueue/hold has no effect on a Job that the queue started; it counts if the queue has to start the Job again, so set spec.suspend: true to stop it now',
      ],
    ],
    [{ [IGNORED_ANNOTATION]: 'a forged <b>text</b>', [WALLTIME]: 'soon' }, []],
  ])('%j: %j', (annotations, clauses) => {
    expect(ignoredChanges(annotated(annotations), row)).toEqual(clauses);
    for (const other of [rowIn('Waiting'), rowIn('Finished'), { ...row, releasedAt: null }])
      expect(ignoredChanges(annotated(annotations), other)).toEqual([]);
    expect(mayChangeOtherwise(annotated(annotations), {})).toBe(Object.keys(annotations).length > 0);
  });

  test.each([
    ['a smaller gang', { gangSize: 3 }, { [GANG_SIZE]: '2' }, true],
    ['no gang', { gangSize: 3 }, {}, true],
    ['a gang of an array', { array: true }, { [GANG_SIZE]: '2' }, true],
    ['the gang that it is', { gangSize: 3 }, { [GANG_SIZE]: '3' }, false],
    ['no gang of an array', { array: true }, {}, false],
    ['a gang, if an earlier version queued it', {}, { [GANG_SIZE]: '2' }, false],
  ])('are %s: noted as %j, %j: %s', (_, noted, annotations, isIgnored) => {
    for (const kind of ['Job', 'JobSet', 'Pod'])
      expect(ignoredChanges(annotated(annotations), { ...noting(noted), kind })).toEqual(
        isIgnored ? [`fluxqueue/gang-size has no effect on a ${kind} that the queue started`] : [],
      );
  });

  test('are those of a Pod, too, which is never started again', () => {
    const pod = { ...row, kind: 'Pod' };
    expect(ignoredChanges(annotated({ [PRIORITY]: '5', [HOLD]: 'true' }), pod)).toEqual([
      'fluxqueue/hold has no effect on a Pod that the queue started; delete it to stop it, or wait until it ends',
      'fluxqueue/priority 5 has no effect on a Pod that the queue started with 0',
    ]);
  });

  test('are a group that a Pod names which runs alone', () => {
    const pod = { ...row, kind: 'Pod' };
    const group = { [GROUP]: 'ring', [GROUP_SIZE]: '2' };
    const problem = 'has no effect on a Pod that the queue started';
    expect(ignoredChanges(annotated(group), pod)).toEqual([
      `fluxqueue/group ${problem}`,
      `fluxqueue/group-size ${problem}`,
    ]);
    expect(mayChangeOtherwise(annotated(group), {})).toBe(true);
  });

  test('are not the name of the FluxSetup that is its queue', () => {
    const queued = { ...row, namespace: 'science', queue: 'science/team' };
    expect(ignoredChanges(annotated({ [QUEUE]: 'team' }), queued)).toEqual([]);
    expect(ignoredChanges(annotated({ [QUEUE]: 'other' }), queued)).toHaveLength(1);
  });

  test('are not what a limit of the queue reduced', () => {
    const reduced = [
      'priority 5 is reduced to 0, the maximum of queue default',
      'queue night is not allowed by the FluxSetups of this namespace, so queue default is meant',
    ];
    const jobspec = { ...row.jobspec, attributes: { ...row.jobspec.attributes, user: { reduced } } };
    expect(ignoredChanges(annotated({ [PRIORITY]: '5', [QUEUE]: 'night' }), { ...row, jobspec })).toEqual([]);
  });
});
