/** Arrays with more pods than the nodes hold at once: as many run as fit, and all of them in the end. */
import { apart, job, type Shape, spread } from '../../stack/manifests';
import type { Case, Outcome } from '../case';

const ZONE = 'topology.kubernetes.io/zone';
/** Of the four nodes with four cores. */
const ALL = { running: 16, nodes: 4, zones: 2 };
const ONE_EACH = { running: 4, nodes: 4, zones: 2 };
const NON_INDEXED = { completionMode: 'NonIndexed' };

const array = (name: string, pods: number, shape: Shape, expected: Partial<Outcome>): Case => ({
  name,
  manifests: () => [job(name, { pods, ...shape })],
  expected,
});

const requesting = (requests: Readonly<Record<string, string>>): Shape => ({ requests });
const runs = '2s';

export const ARRAY_CASES: readonly Case[] = [
  array('array-indexed', 20, {}, ALL),
  array('array-non-indexed', 20, { spec: NON_INDEXED }, ALL),
  array('array-apart', 6, { pod: apart('array-apart') }, ONE_EACH),
  array('array-apart-non-indexed', 6, { pod: apart('array-apart-non-indexed'), spec: NON_INDEXED }, ONE_EACH),
  array('array-ends', 20, { runs }, { succeeded: 20 }),
  array('array-non-indexed-ends', 20, { runs, spec: NON_INDEXED }, { succeeded: 20 }),
  array('array-apart-ends', 6, { runs, pod: apart('array-apart-ends') }, { succeeded: 6 }),
  array('array-waves', 20, { runs, spec: { completions: 30 } }, { succeeded: 30 }),
  array('array-gpus', 6, requesting({ cpu: '1', 'nvidia.com/gpu': '2' }), ONE_EACH),
  array('array-devices', 6, requesting({ cpu: '100m', 'example.com/fpga': '1' }), ONE_EACH),
  array('array-memory', 6, requesting({ cpu: '1', memory: '9Gi' }), ONE_EACH),
  array('array-scratch', 6, requesting({ cpu: '1', 'ephemeral-storage': '60Gi' }), ONE_EACH),
  array('array-huge-pages', 6, requesting({ cpu: '1', memory: '1Gi', 'hugepages-2Mi': '1Gi' }), ONE_EACH),
  array(
    'array-zone',
    4,
    { ...requesting({ cpu: '3' }), pod: { nodeSelector: { [ZONE]: 'b' } } },
    { running: 2, nodes: 2, zones: 1 },
  ),
  array(
    'array-ports',
    6,
    { requests: { cpu: '100m' }, container: { ports: [{ containerPort: 80, hostPort: 18_080 }] } },
    ONE_EACH,
  ),
  array('array-spread', 20, { pod: spread('array-spread', ZONE) }, ALL),
  array(
    'array-init',
    6,
    {
      pod: {
        initContainers: [{ name: 'fetch', image: 'none', resources: { requests: { cpu: '3' } } }],
      },
    },
    ONE_EACH,
  ),
  array(
    'array-failures',
    20,
    {
      runs,
      podAnnotations: { 'fluxqueue.test/exit-code': '3', 'fluxqueue.test/exit-code-index': '1' },
      spec: { backoffLimitPerIndex: 0, maxFailedIndexes: 20 },
    },
    { succeeded: 19, failed: 1 },
  ),
];
