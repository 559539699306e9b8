/**
 * `npm run -s fuzz -- --seed N --seeds COUNT --steps M`: runs random simulations and prints the seeds of failed ones.
 * `--stride 7` takes every seventh seed from N on.
 */
import { parseArgs } from 'node:util';
import { simulate } from './simulation';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1' },
    steps: { type: 'string', default: '1000' },
    stride: { type: 'string', default: '1' },
  },
});

async function main(): Promise<void> {
  let failed = 0;
  for (let i = 0; i < Number(values.seeds); i++) {
    const seed = Number(values.seed) + i * Number(values.stride);
    const began = performance.now();
    const outcome = await simulate({ seed, steps: Number(values.steps) });
    const seconds = Math.round((performance.now() - began) / 10) / 100;
    const { violations, ...figures } = outcome;
    process.stdout.write(`${JSON.stringify({ ...figures, seconds, violations: violations.length })}\n`);
    for (const { invariant, text } of violations.slice(0, 10))
      process.stdout.write(`  ${invariant}: ${text}\n`);
    if (violations.length > 0) {
      failed += 1;
      process.stdout.write(`  to repeat: npm run -s fuzz -- --seed ${seed} --steps ${values.steps}\n`);
    }
  }
  if (failed > 0) process.exitCode = 1;
}

void main();
