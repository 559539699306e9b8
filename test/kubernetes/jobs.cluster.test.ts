import { InternPool } from '../../runtime/intern';
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { JOB } from '../../runtime/kubernetes/job-messages';
import { jobs } from '../../runtime/kubernetes/paths';
import type { Job } from '../../runtime/kubernetes/types';
import { projectJob } from '../../runtime/shared/job-projection';
import type { Cluster } from '../cluster/cluster';
import { describeCluster } from '../cluster/suite';
import { waitFor } from '../cluster/wait';
import { changesOf, eventsOf } from './encodings';
import { JOBS, STATUS } from './full-jobs';
import { NAMESPACE, SURROUNDINGS } from './full-pods';
import { unusedFields } from './unused-fields';

const projected = (job: Job) => projectJob(job, new InternPool());
/** In JSON, and in protobuf. */
const ENCODINGS = [{}, { protobuf: JOB }];
const path = (name?: string) => jobs(NAMESPACE, name);

describeCluster('Jobs in JSON and in protobuf', tests);

function tests(getCluster: () => Cluster): void {
  let client: KubernetesClient;

  beforeAll(async () => {
    client = createClient({ kubeconfig: getCluster().kubeconfig });
    await getCluster().create(SURROUNDINGS);
    await getCluster().create(JOBS);
    await client.patch(`${path('full')}/status`, { status: STATUS }, 'merge');
    // A finalizer keeps it.
    await client.delete(path('full'));
  });
  afterAll(() => client.close());

  test('lists are equal', async () => {
    const [json, protobuf] = await waitFor('two lists of one version', async () => {
      const lists = await Promise.all(ENCODINGS.map((each) => client.list<Job>(path(), each)));
      const [first, second] = lists.map(({ metadata }) => metadata.resourceVersion);
      return first === second ? lists : undefined;
    });
    expect(json!.items).toHaveLength(JOBS.length);
    expect(protobuf!.items.map(projected)).toEqual(json!.items.map(projected));
    expect(
      protobuf!.items.filter((job) => projected(job).isLarge).map(({ metadata }) => metadata.name),
    ).toEqual(['large']);
  });

  test('every field that is read in protobuf is in one of these Jobs under its name in JSON', async () => {
    const { items } = await client.list<Job>(path());
    // Of a template only admission and the scheduler would set these; the last is an alpha feature.
    const ofPods = ['nodeName', 'priority', 'overhead', 'schedulingGates', 'namespace'];
    expect(unusedFields(JOB, items)).toEqual(ofPods);
  });

  test('watches are equal', async () => {
    const { metadata } = await client.list<Job>(path(), { protobuf: JOB });
    const watches = ENCODINGS.map((each) => eventsOf<Job>(client, path(), { ...each, ...metadata }));
    await client.create(path(), { ...JOBS[1], metadata: { name: 'new' } });
    await client.patch(path('new'), { spec: { suspend: true } }, 'merge');
    const long = [{ name: 'LONG', value: 'x'.repeat(150_000) }];
    const template = {
      spec: { containers: [{ name: 'main', image: 'a', env: long }], restartPolicy: 'Never' },
    };
    await client.create(path(), { ...JOBS[1], metadata: { name: 'new-large' }, spec: { template } });
    await client.delete(path('new'));
    const [json, protobuf] = await Promise.all(watches);
    expect(changesOf(protobuf!, projected)).toEqual(changesOf(json!, projected));
    const types = new Set(protobuf!.map(({ type }) => type));
    expect([...types].sort()).toEqual(['ADDED', 'BOOKMARK', 'DELETED', 'MODIFIED']);
  });
}
