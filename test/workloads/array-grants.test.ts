/** What becomes of the pods of an array while others of them cannot run. */
import { COMPLETION_INDEX_ANNOTATION, GATE } from '../../constructs/api/labels';
import type { Pod } from '../../runtime/kubernetes/types';
import { rowIn } from '../queue/rows';
import { array, type FailedCreate, pinnedTo, pod, RELEASED, RUNS, refused, setUp } from './watched-grant';

describe('the pods of an array', () => {
  const RUNNING = pod('a', RUNS, 'n1');
  const WAITING = { ...pod('b', refused), spec: pinnedTo('n2') };

  test('that run stay where they are, however long another one is refused', async () => {
    const { observe, seconds } = setUp({ workload: array });
    await observe([RUNNING, WAITING]);
    seconds(3600);
    expect(await observe([RUNNING, WAITING])).toMatchObject({
      wait: { message: 'pod b did not run on n2: 0/2 nodes', isPartial: true },
      failure: undefined,
    });
  });

  test('that wait for the end of others are counted in the FluxJob', async () => {
    const given = rowIn('Running', {
      uid: 'job',
      jobid: 7,
      pods: 3,
      releasedAt: RELEASED,
      allocation: { jobid: 7, start: 0, end: 60, nodes: [{ name: 'n1', units: { core: '0', memory: '0' } }] },
    });
    const gated = pod('b', undefined);
    const waiting = { ...gated, spec: { ...gated.spec, schedulingGates: [{ name: GATE }] } };
    const { observe } = setUp({ workload: array, given });
    const wait = { message: '1 pod waits until others of it have ended', isPartial: true };
    expect((await observe([RUNNING, waiting])).wait).toMatchObject(wait);
    const ended = pod('a', { phase: 'Succeeded' }, 'n1');
    expect((await observe([ended, waiting, pod('c', RUNS, 'n2')])).wait).toBeUndefined();
  });

  test.each([
    ['stays in ImagePullBackOff', { containerStatuses: [waitingFor('ImagePullBackOff')] }, 'n2'],
    ['waits for its volumes', {}, undefined],
  ])('that run stay where they are while another one %s', async (_, status, node) => {
    const { observe, seconds } = setUp({ workload: array });
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    const stuck = pod('b', status as Pod['status'], node);
    const pods = [RUNNING, { ...stuck, spec: { ...stuck.spec, volumes } }];
    await observe(pods);
    seconds(7200);
    expect((await observe(pods)).failure).toBeUndefined();
  });

  test('that prepare with an init container stay, too', async () => {
    const { observe, seconds } = setUp({ workload: array });
    const init = { initContainerStatuses: [{ name: 'load', state: { running: {} } }] } as Pod['status'];
    const pods = [pod('a', init, 'n1'), WAITING];
    await observe(pods);
    seconds(3600);
    expect((await observe(pods)).failure).toBeUndefined();
  });

  test('that still start keep the grant, although another one is refused', async () => {
    const { observe, seconds } = setUp({ workload: array });
    const pods = [pod('a', undefined, 'n1'), WAITING];
    await observe(pods);
    seconds(599);
    expect((await observe(pods)).failure).toBeUndefined();
    seconds(600);
    expect((await observe(pods)).failure).toMatchObject({ message: /^pod a and 1 more did not run on n1/ });
  });

  test('end the grant once none of them has run for 30 s, and each waits for too long', async () => {
    const { observe, seconds } = setUp({ workload: array });
    await observe([RUNNING, WAITING]);
    seconds(3600);
    const { metadata, ...done } = pod('a', { phase: 'Succeeded' }, 'n1');
    const annotations = { ...metadata.annotations, [COMPLETION_INDEX_ANNOTATION]: '0' };
    const after = [{ ...done, metadata: { ...metadata, annotations } }, WAITING];
    expect(await observe(after)).toMatchObject({ failure: undefined, after: 30_000 });
    seconds(3630);
    expect((await observe(after)).failure).toMatchObject({ cause: 'cluster', avoid: ['n2'] });
  });

  test('that the Job controller cannot create take nothing from those that run', async () => {
    const failures = [failureAt(3600)];
    const { observe, seconds } = setUp({ workload: array, failures });
    await observe([RUNNING]);
    seconds(3600);
    expect(await observe([RUNNING])).toEqual({
      wait: {
        reason: 'PodsMissing',
        message: 'the Job controller cannot create its pods: exceeded quota: small',
        isPartial: true,
      },
      failure: undefined,
      isNarrowed: true,
      after: 15_000,
    });
  });

  test('that end at the same moment do not end the grant before the next are created', async () => {
    const { observe, seconds } = setUp({ workload: array, failures: [failureAt(3600)] });
    await observe([RUNNING]);
    seconds(3600);
    await observe([RUNNING]);
    expect((await observe([])).failure).toBeUndefined();
    expect((await observe([pod('c', undefined, 'n1')])).failure).toBeUndefined();
  });
});

function waitingFor(reason: string) {
  return { name: 'main', state: { waiting: { reason } } };
}

/** What the Job controller says so many seconds after the release. */
function failureAt(seconds: number): FailedCreate {
  return {
    note: 'Error creating: exceeded quota: small',
    deprecatedLastTimestamp: new Date((RELEASED + seconds) * 1000).toISOString(),
  };
}
