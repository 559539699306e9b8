/**
 * `npm run -s rollout -- --json [--per-second N] [--before COMMIT]`: rolling updates and a rollback by one version under a load of
 * Jobs (scenario.ts). The last line is JSON; the exit code is 1 if a Job was refused or lost, or nothing was granted for 3 s.
 */
import { loadavg } from 'node:os';
import { Command } from 'commander';
import { messageOf } from '../../runtime/errors';
import { versionBefore } from './release';
import { rollOut } from './scenario';

/** Seconds without a grant. */
const MOST_GAP = 3;

const options = new Command('rollout')
  .option('--json', 'print only one line of JSON on stdout', false)
  .option('--per-second <number>', 'Jobs created each second', '50')
  .option('--before <commit>', 'version to go back to; default: the last commit before the newest migration')
  .parse()
  .opts<{ json: boolean; perSecond: string; before?: string }>();

const print = (line: string) => process.stderr.write(`${line}\n`);

async function main(): Promise<number> {
  const before = options.before ?? versionBefore();
  if (before === undefined) print('skipped: the version before (git has no history here)');
  const result = await rollOut({
    perSecond: Number(options.perSecond),
    ...(before === undefined ? {} : { before }),
    print,
  });
  const figures = { ...result, before, load: loadavg()[0] };
  const summary = `${result.jobs} Jobs, ${result.refused} refused, ${result.lost} lost, ${result.gap} s without a grant`;
  process.stdout.write(`${options.json ? JSON.stringify(figures) : summary}\n`);
  return result.refused + result.lost > 0 || result.gap > MOST_GAP ? 1 : 0;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    print(messageOf(error));
    process.exit(1);
  },
);
