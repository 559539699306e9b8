/**
 * `npm run -s parity -- --json`: applies the same manifests to a plain and to an opted-in namespace, with room for all in
 * both, and prints what differs: which pods ran, on how many nodes and in how many zones. The last line is JSON. The exit
 * code is 1 if a difference is not explained, or if a plain workload did not come to what its case says.
 */
import { Command } from 'commander';
import { messageOf } from '../../runtime/errors';
import { exitWhenWritten } from '../../runtime/exit';
import { startStack } from '../stack/stack';
import { type Comparison, compareAll } from './compare';
import { CASES } from './manifests';

const options = new Command('parity')
  .option('--json', 'print only one line of JSON on stdout', false)
  .option('--only <text>', 'apply only the manifests whose name contains this text', '')
  .parse()
  .opts<{ json: boolean; only: string }>();

const print = (line: string) => process.stderr.write(`${line}\n`);

async function main(): Promise<number> {
  const stack = await startStack({ progress: print, config: { logLevel: 'warn' } });
  try {
    await stack.roles.startFluxion();
    await stack.startController({ fluxion: { address: stack.roles.fluxionAddress } });
    const cases = CASES.filter(({ name }) => name.includes(options.only));
    const comparisons = await compareAll(stack, cases, print);
    const different = comparisons.filter((each) => differs(each));
    const explained = different.filter(isExplained);
    const unexplained = different.filter((each) => !isExplained(each));
    for (const each of different) print(describe(each));
    const result = {
      same: comparisons.length - different.length,
      different: unexplained.length,
      explained: explained.map(({ name, different: fields }) => ({ name, ...fields })),
      unexpected: comparisons
        .filter(({ isExpected }) => !isExpected)
        .map(({ name, plain }) => ({ name, plain })),
      unexplained: unexplained.map(({ name, plain, queued, says }) => ({ name, plain, queued, says })),
    };
    process.stdout.write(options.json ? `${JSON.stringify(result)}\n` : summarize(result));
    return unexplained.length === 0 && result.unexpected.length === 0 ? 0 : 1;
  } finally {
    await stack.stop();
  }
}

const differs = ({ different }: Comparison) => Object.keys(different).length > 0;
const isExplained = ({ different }: Comparison) => Object.values(different).every((text) => text !== '');

function describe({ name, plain, queued, different, says }: Comparison): string {
  const fields = (Object.keys(different) as (keyof typeof plain)[]).map((field) => {
    const why = different[field] === '' ? `NOT EXPLAINED; ${says}` : different[field];
    return `${field}: ${plain[field]} in the plain namespace, ${queued[field]} in the queued one (${why})`;
  });
  return `${name}: ${fields.join('; ')}`;
}

function summarize({
  same,
  different,
  explained,
}: {
  same: number;
  different: number;
  explained: object[];
}): string {
  return `${same} the same, ${explained.length} different as explained, ${different} different\n`;
}

main().then(exitWhenWritten, (error: unknown) => {
  print(messageOf(error));
  return exitWhenWritten(1);
});
