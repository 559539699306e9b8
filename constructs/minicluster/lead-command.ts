/** The command of the lead broker, as shell source that appends it to the broker and its options. */
import type { ClusterContext } from './context';
import { hasCommand, hasText } from './interactive';
import { BROKER_SCRIPTS, configFolder, SCRIPTS } from './pod-paths';
import type { ContainerSpec } from './resource';
import type { DefaultedSpec } from './schema';
import { commandWords, quoteAll, splitWords } from './shell-quote';

/** Whether the command is submitted as a batch job. */
export function isBatch({ batch, batchRaw }: ContainerSpec): boolean {
  return batch === true || batchRaw === true;
}

/** Adds `-N` and `-n` by the rule of flux-operator, and the options of the user. */
function pushFlags(words: string[], { tasks, size, flux, logging }: DefaultedSpec): void {
  if (tasks === 0 || tasks >= size) words.push('-N', String(size));
  if (tasks !== 0) words.push('-n', String(tasks));
  if (flux.optionFlags !== undefined) words.push(...splitWords(flux.optionFlags));
  if (logging.debug === true) words.push('-vvv');
}

export function leadScript({ spec, brokerContainer, interactive }: ClusterContext): string {
  if (!hasCommand(brokerContainer)) return STAYS_UP;
  const command = `${timed(spec)}${prefix(brokerContainer)}${commandLine(spec, brokerContainer)}`;
  if (!interactive) return `set -- "$@" ${command}\n`;
  return `${STAYS_UP}beside=yes\ncommand_beside() { ${command}; }\n`;
}

const STAYS_UP = 'set -- "$@" -Sbroker.rc2_none\n';

function commandLine(spec: DefaultedSpec, brokerContainer: ContainerSpec): string {
  if (isBatch(brokerContainer)) return batchWords(spec);
  const command = hasText(brokerContainer.commands?.script)
    ? `"$shell" ${BROKER_SCRIPTS}/script.sh`
    : commandWords(brokerContainer.command ?? '');
  return brokerContainer.launcher === true ? command : `${quoteAll(submit(spec))} ${command}`;
}

function submit(spec: DefaultedSpec): string[] {
  const { submitCommand } = spec.flux;
  const words = submitCommand === undefined ? ['flux', 'submit'] : splitWords(submitCommand);
  // Only `flux submit` returns before the job ends; other commands do not have these options.
  const watches = words[1] === 'submit';
  pushFlags(words, spec);
  if (watches) words.push('--quiet', '--watch');
  return words;
}

function batchWords(spec: DefaultedSpec): string {
  const words: string[] = [];
  pushFlags(words, spec);
  words.push('--output=kvs');
  // The instance inside the batch job starts job shells too, which need the same settings.
  if (spec.flux.cpuAffinity !== true)
    words.push(`--broker-opts=-Sconf.shell_initrc=${configFolder(spec)}/initrc.lua`);
  return `"$shell" ${SCRIPTS}/batch.sh ${quoteAll(words)} ${BROKER_SCRIPTS}/batch.sh`;
}

/** The script of a batch job, in which every line of the command is a job. */
export function batchScript(spec: DefaultedSpec, { command = '', batchRaw }: ContainerSpec): string {
  if (batchRaw === true) return command.startsWith('#!') ? command : `#!/bin/sh\n${command}`;
  const lines = command.split('\n').filter((line) => line.trim() !== '');
  // Otherwise Flux prints the ids of the jobs and how many are left.
  const quiet = spec.logging.quiet === true ? ' --quiet' : '';
  const jobs = lines.map((line, index) => {
    const files = `--error="$FLUX_OUTPUT_DIR/job-${index}.err" --output="$FLUX_OUTPUT_DIR/job-${index}.out"`;
    // A line that begins with `-` begins with options of its job.
    const words = line.trim().startsWith('-') ? line.trim() : commandWords(line);
    return `flux submit${quiet} --flags=waitable ${files} ${words} || code=1\n`;
  });
  const report = spec.logging.quiet === true ? '' : 'flux jobs -a\n';
  return `#!/bin/sh\ncode=0\n${jobs.join('')}flux queue idle${quiet}\nflux job wait --all || code=1\n${report}exit "$code"\n`;
}

function prefix({ commands }: ContainerSpec): string {
  const words = commands?.prefix === undefined ? [] : splitWords(commands.prefix);
  return words.length === 0 ? '' : `${quoteAll(words)} `;
}

function timed({ logging }: DefaultedSpec): string {
  return logging.timed === true ? `"$shell" ${SCRIPTS}/timed.sh fluxsubmit ` : '';
}
