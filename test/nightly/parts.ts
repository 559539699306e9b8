/** What a nightly run does, each part in the size that `npm test` has no time for. */
export interface Part {
  readonly part: string;
  /** A script of package.json with its arguments. */
  readonly run: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Each run of the fuzz test has so many steps, and all together a million. */
const FUZZ_STEPS = 1000;
const FUZZ_RUNS = 1000;

/** Suites of which `npm test` runs another part each day. */
export const DRAWN_ROWS = [
  'test/constructs/fluxqueue/postgres-script',
  'test/constructs/fluxqueue/matrix.cluster',
  'test/fuzz/simulation',
  'test/stack/outages',
  'test/causes/causes',
  'test/stack/faults',
  'test/stack/leader-worker-sets',
  'test/cli/pipes',
];

/** Suites that take longer with NIGHTLY=1. */
const LONGER_SUITES = ['test/stack/webhook-outage', 'test/stack/small-memory'];

/** Suites that draw from what a part of its own plays as a whole. */
export const DRAWN_PARTS: Readonly<Record<string, string>> = {
  'test/crash-matrix/matrix': 'crash-matrix',
  'test/parity/parity': 'parity',
  'test/kinds/table': 'kinds',
};

/** @param seed of the day: seeds of different days do not overlap */
export function partsOf(seed: number): readonly Part[] {
  const text = String(seed);
  const first = String(1_000_000 + seed * FUZZ_RUNS);
  return [
    { part: 'crash-matrix', run: ['crash-matrix', '--json'] },
    {
      part: 'properties',
      run: ['properties', '--json'],
      env: { NIGHTLY: '1', PROPERTY_SEED: text, PROPERTY_FACTOR: '5' },
    },
    {
      part: 'fuzz',
      run: ['fuzz', '--json', '--seed', first, '--seeds', String(FUZZ_RUNS), '--steps', String(FUZZ_STEPS)],
    },
    {
      part: 'fuzz of cohorts',
      run: ['fuzz', '--json', '--cohorts', '--seed', first, '--seeds', '100', '--steps', '400'],
    },
    {
      part: 'fuzz of pods beyond their grants',
      run: ['fuzz', '--json', '--enlarge', '--seed', first, '--seeds', '100', '--steps', '400'],
    },
    {
      part: 'fuzz on Kubernetes before 1.36',
      run: ['fuzz', '--json', '--older', '--seed', first, '--seeds', '100', '--steps', '400'],
    },
    {
      part: 'fuzz of odd nodes',
      run: ['fuzz', '--json', '--nodes', '--seed', first, '--seeds', '100', '--steps', '400'],
    },
    {
      part: 'fuzz of images that are pulled',
      run: ['fuzz', '--json', '--pulls', '--seed', first, '--seeds', '100', '--steps', '400'],
    },
    { part: 'fuzz of Fluxion', run: ['fuzz:fluxion', '--json', '--seed', first, '--seeds', '1000'] },
    { part: 'poison', run: ['poison', '--json'] },
    { part: 'parity', run: ['parity', '--json'] },
    { part: 'kinds', run: ['kinds', '--json'] },
    { part: 'gitops', run: ['gitops', '--json'] },
    { part: 'first hour', run: ['first-hour', '--json'] },
    { part: 'attacks', run: ['attacks', '--json'] },
    { part: 'rollout', run: ['rollout', '--json'] },
    { part: 'real pods', run: ['realpods', '--json'] },
    { part: 'whole suites', run: ['test', '--json', ...DRAWN_ROWS, ...LONGER_SUITES], env: { NIGHTLY: '1' } },
    { part: 'real Flux', run: ['test', '--json', 'test/boot'] },
  ];
}
