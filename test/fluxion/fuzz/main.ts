/**
 * `npm run -s fuzz:fluxion -- [--seeds N] [--seed FIRST] [--kind KIND] [--json]`: compares random
 * answers of the embedded matcher with those of flux-sched's library, where that is installed (FLUXION_LIBRARY or the
 * usual folders). Each seed is one case of each kind. It prints {"cases", "answers", "different"}, and fails on a difference.
 */
import { parseArgs } from 'node:util';
import { loadLibraryEngine } from '../../../runtime/fluxion/library/engine';
import { findLibrary, LIBRARY } from '../../../runtime/fluxion/library/find';
import { KINDS, type Kind } from './cases';
import { compare } from './compare';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '25' },
    seed: { type: 'string', default: '1' },
    kind: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

async function main(): Promise<void> {
  const path = findLibrary(undefined);
  if (path === undefined) {
    const skipped = `${LIBRARY} is not installed`;
    process.stdout.write(`${values.json ? JSON.stringify({ skipped }) : `skipped: ${skipped}`}\n`);
    return;
  }
  const library = await loadLibraryEngine(path);
  const kinds = values.kind === undefined ? KINDS : [kindOf(values.kind)];
  const report = { cases: 0, answers: 0, different: 0 };
  const first = Number(values.seed);
  for (let seed = first; seed < first + Number(values.seeds); seed++)
    for (const kind of kinds) {
      const { difference, compared } = await compare(kind, seed, library);
      report.cases++;
      report.answers += compared;
      if (difference === undefined) continue;
      report.different++;
      process.stderr.write(`${JSON.stringify(difference)}\n`);
    }
  await library.close();
  const { cases, answers, different } = report;
  const summary = `${different} of ${cases} cases differ, ${answers} answers`;
  process.stdout.write(`${values.json ? JSON.stringify(report) : summary}\n`);
  if (different > 0) process.exitCode = 1;
}

function kindOf(text: string): Kind {
  const kind = KINDS.find((one) => one === text);
  if (kind === undefined) throw new Error(`--kind must be one of: ${KINDS.join(', ')}`);
  return kind;
}

void main();
