// Own cluster: a stack without MiniClusters.
/** A stack without MiniClusters: the controller works with the rights that are left. */
import { describeOwnStack, inOneNamespace } from './suite';
import type { Namespace } from './workloads';

describeOwnStack(
  'a stack without MiniClusters',
  (getFixture) => {
    let science: Namespace;
    inOneNamespace(getFixture, (given) => {
      science = given;
    });

    test('runs Jobs and Pods', async () => {
      const job = await science.job('train', { pods: 2 });
      const pod = await science.pod('probe');
      await science.phase(job, 'Finished');
      await science.phase(pod, 'Finished');
    });
  },
  {
    cluster: { nodes: 2 },
    props: { miniClusters: false },
    config: { miniClusters: { enabled: false } },
  },
);
