import { existsSync } from 'node:fs';
import type { KubeObject } from './cluster';
import { startCluster } from './cluster';
import { describeCluster } from './suite';

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

function indexedJob(name: string, completions: number, annotations: Record<string, string> = {}): KubeObject {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'default' },
    spec: {
      completions,
      parallelism: completions,
      completionMode: 'Indexed',
      backoffLimit: 0,
      template: {
        metadata: { annotations },
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.test/main' }] },
      },
    },
  };
}

async function jobEnd(get: (path: string) => Promise<KubeObject>, name: string): Promise<string | undefined> {
  const job = await get(`/apis/batch/v1/namespaces/default/jobs/${name}`);
  const { conditions = [] } = job.status as { conditions?: { type: string; status: string }[] };
  return conditions.find(({ type, status }) => ['Complete', 'Failed'].includes(type) && status === 'True')
    ?.type;
}

describeCluster(
  'a cluster',
  (getCluster) => {
    test('runs an indexed Job to its end on the nodes', async () => {
      const cluster = getCluster();
      await cluster.create(indexedJob('three', 3));
      const end = await cluster.waitFor('the Job to end', () => jobEnd((path) => cluster.get(path), 'three'));
      expect(end).toBe('Complete');
      const pods = await cluster.get<{ items: KubeObject[] }>(
        '/api/v1/namespaces/default/pods?labelSelector=job-name%3Dthree',
      );
      expect(pods.items.map(({ spec }) => (spec as { nodeName: string }).nodeName)).toEqual(
        Array(3).fill(expect.stringMatching(/^node-[0-3]$/)),
      );
    });
  },
  { nodes: 4, auditLog: true },
);

test('stop leaves no process and no file', async () => {
  const cluster = await startCluster();
  const { pids, directory } = cluster;
  expect(pids).toHaveLength(6);
  await cluster.stop();
  expect(pids.filter(isAlive)).toEqual([]);
  expect(existsSync(directory)).toBe(false);
});
