/** What the lead starts, as shell source that appends it to the broker and its options. */
import type { Parts } from './context';
import { hasText } from './interactive';
import { configFolder, RUNNER, SCRIPTS } from './pod-paths';
import type { ContainerSpec } from './resource';
import type { DefaultedSpec } from './schema';
import { commandWords, quoteAll, splitWords } from './shell-quote';

/** Its command is submitted as a batch job. */
export function isBatch({ batch, batchRaw }: ContainerSpec): boolean {
  return batch === true || batchRaw === true;
}

/** `-N` and `-n` by upstream's rule, and the user's own. */
function pushFlags(words: string[], { tasks, size, flux, logging }: DefaultedSpec): void {
  if (tasks === 0 || tasks >= size) words.push('-N', String(size));
  if (tasks !== 0) words.push('-n', String(tasks));
  if (flux.optionFlags !== undefined) words.push(...splitWords(flux.optionFlags));
  if (logging.debug === true) words.push('-vvv');
}

export function leadScript({ spec, runner, interactive }: Parts): string {
  if (interactive) return 'set -- "$@" -Sbroker.rc2_none\n';
  return `set -- "$@" ${timed(spec)}${prefix(runner)}${started(spec, runner)}\n`;
}

function started(spec: DefaultedSpec, runner: ContainerSpec): string {
  if (isBatch(runner)) return batchWords(spec);
  const command = hasText(runner.commands?.script)
    ? `"$shell" ${RUNNER}/script.sh`
    : commandWords(runner.command ?? '');
  return runner.launcher === true ? command : `${quoteAll(submit(spec))} ${command}`;
}

function submit(spec: DefaultedSpec): string[] {
  const { submitCommand } = spec.flux;
  const words = submitCommand === undefined ? ['flux', 'submit'] : splitWords(submitCommand);
  // Only `flux submit` returns before the job ends; to the others these are no options.
  const watches = words[1] === 'submit';
  pushFlags(words, spec);
  if (watches) words.push('--quiet', '--watch');
  return words;
}

function batchWords(spec: DefaultedSpec): string {
  const words: string[] = [];
  pushFlags(words, spec);
  words.push('--output=kvs');
  // The instance inside the batch job has shells of its own, which need the same settings.
  if (spec.flux.cpuAffinity !== true)
    words.push(`--broker-opts=-Sconf.shell_initrc=${configFolder(spec)}/initrc.lua`);
  return `"$shell" ${SCRIPTS}/batch.sh ${quoteAll(words)} ${RUNNER}/batch.sh`;
}

/** The script of a batch job; every line of the command a job in it. */
export function batchScript(spec: DefaultedSpec, { command = '', batchRaw }: ContainerSpec): string {
  if (batchRaw === true) return command.startsWith('#!') ? command : `#!/bin/sh\n${command}`;
  const lines = command.split('\n').filter((line) => line.trim() !== '');
  // Neither their ids nor how many are left.
  const quiet = spec.logging.quiet === true ? ' --quiet' : '';
  const jobs = lines.map((line, index) => {
    const files = `--error="$FLUX_OUTPUT_DIR/job-${index}.err" --output="$FLUX_OUTPUT_DIR/job-${index}.out"`;
    // A line may begin with options of its own.
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
