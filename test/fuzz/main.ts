/**
 * `npm run -s fuzz -- --seed N --seeds COUNT --steps M [--json]`: runs random simulations and prints the seeds of failed ones.
 * `--enlarge` makes pods larger than they were granted, `--cohorts` has queues that share quota, `--pulls` has images that are pulled for seconds, `--older` a Kubernetes before 1.36, `--nodes` nodes that shrink, take few pods and have pods that request nothing, `--tails` Jobs whose pods end at different times and in different ways, `--ends` compares how each workload ended with its records; both find cases that nobody has judged yet. `--stride 7` takes every seventh seed from N on. With `--json`, stdout has one line for all, and stderr the failed ones.
 */
import { parseArgs } from 'node:util';
import { simulate } from './simulation';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1' },
    steps: { type: 'string', default: '1000' },
    stride: { type: 'string', default: '1' },
    enlarge: { type: 'boolean', default: false },
    cohorts: { type: 'boolean', default: false },
    pulls: { type: 'boolean', default: false },
    older: { type: 'boolean', default: false },
    nodes: { type: 'boolean', default: false },
    tails: { type: 'boolean', default: false },
    ends: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

const print = (line: string) => (values.json ? process.stderr : process.stdout).write(`${line}\n`);

/** Those that are on. */
function switches(): string {
  const on = (['enlarge', 'cohorts', 'pulls', 'older', 'nodes', 'tails', 'ends'] as const).filter(
    (name) => values[name],
  );
  return on.map((name) => ` --${name}`).join('');
}

async function main(): Promise<void> {
  const sum = { seeds: Number(values.seeds), steps: 0, workloads: 0, grants: 0, violations: 0 };
  const failed: number[] = [];
  for (let i = 0; i < sum.seeds; i++) {
    const seed = Number(values.seed) + i * Number(values.stride);
    const began = performance.now();
    const { violations, ...figures } = await simulate({
      seed,
      steps: Number(values.steps),
      enlarge: values.enlarge,
      cohorts: values.cohorts,
      pulls: values.pulls,
      older: values.older,
      nodes: values.nodes,
      tails: values.tails,
      ends: values.ends,
    });
    const seconds = Math.round((performance.now() - began) / 10) / 100;
    const line = JSON.stringify({ ...figures, seconds, violations: violations.length });
    if (!values.json || violations.length > 0) print(line);
    sum.steps += Number(values.steps);
    sum.workloads += figures.workloads;
    sum.grants += figures.grants;
    sum.violations += violations.length;
    if (violations.length === 0) continue;
    failed.push(seed);
    for (const { invariant, text } of violations.slice(0, 10)) print(`  ${invariant}: ${text}`);
    print(`  to repeat: npm run -s fuzz -- --seed ${seed} --steps ${values.steps}${switches()}`);
  }
  if (values.json) process.stdout.write(`${JSON.stringify({ ...sum, failed })}\n`);
  if (failed.length > 0) process.exitCode = 1;
}

void main();
