/**
 * `npm run -s properties -- [--json]`: runs the properties of scheduling on random cases and prints how many, one line each.
 * `PROPERTY_FACTOR=100` runs a hundred times as many, `PROPERTY_SEED=random` looks for new ones, and
 * `PROPERTY_ONLY=victims` runs those whose names begin so.
 */
import { parseArgs } from 'node:util';
import { CONSERVATION_PROPERTIES } from './conservation';
import { PREEMPTION_PROPERTIES } from './preemption';
import { type Report, run } from './property';
import { QUOTA_PROPERTIES } from './quotas';
import { VICTIM_PROPERTIES } from './victims';

const PROPERTIES = [
  ...QUOTA_PROPERTIES,
  ...PREEMPTION_PROPERTIES,
  ...VICTIM_PROPERTIES,
  ...CONSERVATION_PROPERTIES,
];

const only = process.env.PROPERTY_ONLY ?? '';

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
  const reports: Report[] = [];
  for (const property of PROPERTIES.filter(({ name }) => name.startsWith(only))) {
    const report = await run(property);
    reports.push(report);
    if (!values.json) process.stdout.write(`${lineOf(report)}\n`);
  }
  const cases = reports.reduce((sum, report) => sum + report.cases, 0);
  const cpuSeconds = process.cpuUsage().user / 1e6;
  if (values.json) process.stdout.write(`${JSON.stringify({ cases, cpuSeconds, properties: reports })}\n`);
  else process.stdout.write(`${cases} cases in ${cpuSeconds.toFixed(1)} s of the processor\n`);
  if (reports.some(({ failure }) => failure !== undefined)) process.exitCode = 1;
}

function lineOf({ property, cases, cpuSeconds, failure }: Report): string {
  const line = `${String(cases).padStart(8)} ${cpuSeconds.toFixed(1).padStart(6)} s  ${property}`;
  return failure === undefined ? line : `${line}\n${failure}`;
}

void main();
