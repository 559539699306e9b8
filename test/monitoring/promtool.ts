/** Runs promtool of Prometheus, which judges rules and queries on given samples. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { GoProgram } from '../go-program';

export const PROMTOOL = new GoProgram('github.com/prometheus/prometheus/cmd/promtool', 'v0.316.0');

export interface Series {
  readonly series: string;
  /** Values at each interval, with spaces between. */
  readonly values: string;
}

export interface PromTest {
  /** Named by promtool when it fails. */
  readonly name: string;
  readonly interval: string;
  readonly input_series: readonly Series[];
  readonly promql_expr_test?: readonly object[];
  readonly alert_rule_test?: readonly object[];
}

/** @throws an error with promtool's output if a test fails */
export function runPromtool(program: string, rules: object, tests: readonly PromTest[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'promtool-'));
  try {
    writeFileSync(join(folder, 'rules.yaml'), stringify(rules));
    const suite = { rule_files: ['rules.yaml'], evaluation_interval: '15s', tests };
    writeFileSync(join(folder, 'tests.yaml'), stringify(suite, { lineWidth: 0 }));
    call(program, ['check', 'rules', join(folder, 'rules.yaml')]);
    call(program, ['test', 'rules', join(folder, 'tests.yaml')]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @throws an error with promtool's output if one of the queries has no answer on these series */
export function checkAnswers(
  program: string,
  series: readonly Series[],
  queries: readonly { readonly expr: string }[],
): void {
  runPromtool(program, { groups: [] }, [
    {
      name: 'every query has an answer',
      interval: '15s',
      input_series: series,
      promql_expr_test: queries.map(({ expr }) => ({
        expr: `count(${expr}) > bool 0`,
        eval_time: '30s',
        exp_samples: [{ labels: '{}', value: 1 }],
      })),
    },
  ]);
}

function call(program: string, args: readonly string[]): void {
  try {
    execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`promtool ${args.slice(0, 2).join(' ')}: ${stdout}${stderr}`, { cause: error });
  }
}

/** Samples of two readings of a metrics page, 15 s apart, as series. */
export function seriesOf(pod: string, before: string, after: string): Series[] {
  const first = samplesOf(before);
  return [...samplesOf(after)].map(([name, value]) => {
    const [metric, labels = ''] = name.split(/[{}]/);
    const all = [`pod="${pod}"`, ...(labels === '' ? [] : [labels])].join(',');
    return { series: `${metric}{${all}}`, values: `${first.get(name) ?? value} ${value} ${value}` };
  });
}

function samplesOf(page: string): ReadonlyMap<string, string> {
  const samples = page.split('\n').flatMap((line) => {
    const end = line.lastIndexOf(' ');
    return line.startsWith('fluxqueue_') ? [[line.slice(0, end), line.slice(end + 1)] as const] : [];
  });
  return new Map(samples);
}
