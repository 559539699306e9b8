/** It waits for what has not ended, or not started, when it should have. The cluster has two nodes with 4 cores and 16 GiB each. */
import { LINGERS, PULLS } from '../../fuzz/simulated-cluster';
import type { Situation } from './situation';

export const LATE: readonly Situation[] = [
  {
    because: 'nodes are kept for an earlier one that waits for a late start',
    reason: 'Busy',
    async arrange(world) {
      world.job('slow', { cores: 4, podAnnotations: { [PULLS]: '500' } });
      await world.seconds(60);
      world.job('wide', { pods: 2, cores: 4 });
      await world.seconds(3);
      world.job('mine', { cores: 2 });
    },
    prints: [
      'science/job/mine waits in queue default, position 2',
      'Busy: needs 1 pod with 2 cores; not free now for its walltime',
      'it would start at about 2027-01-15T10:02:00Z if nothing else were submitted; this is no promise',
      'just ahead of it: job/wide (position 1)',
      'in namespace science: job/slow has node-0, its pods do not run yet; it may use its walltime of 1h from their start',
      'nodes are reserved for job/wide (position 1), whose start is not known: those of them that are free are only for what ends before',
      'what to do: nothing; it starts by itself when nodes are free for it. A shorter fluxqueue/walltime or fewer pods may fit earlier',
    ],
  },
  {
    because: 'the one that it waits for runs past its walltime',
    reason: 'Reserved',
    async arrange(world) {
      const annotations = { 'fluxqueue/walltime': '10s' };
      world.job('late', { pods: 2, cores: 4, annotations, podAnnotations: { [LINGERS]: '9999' } });
      await world.seconds(60);
      world.job('mine', { cores: 3 });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Reserved: nodes are reserved for it behind science/late, which should have ended by now',
      'no start is known: it depends on the end of one that runs past its walltime',
      'in namespace science: job/late has node-[0-1], its walltime ended at 2027-01-15T08:00:11Z',
      'what to do: nothing; it starts by itself',
    ],
  },
  {
    because: 'the one that it waits for starts late',
    reason: 'Reserved',
    async arrange(world) {
      world.job('slow', { pods: 2, cores: 4, podAnnotations: { [PULLS]: '500' } });
      await world.seconds(60);
      world.job('mine', { cores: 3 });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Reserved: nodes are reserved for it behind science/slow, which should have started by now',
      'it would start at about 2027-01-15T09:02:00Z if nothing else were submitted; this is no promise',
      'in namespace science: job/slow has node-[0-1], its pods do not run yet; it may use its walltime of 1h from their start',
      'what to do: nothing; it starts by itself',
    ],
  },
];
