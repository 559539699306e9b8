/** What the lead starts, as shell source that appends it to the broker and its options. */
import { configFolder, SCRIPTS } from './places';
import type { ContainerSpec } from './resource';
import type { DefaultedSpec } from './schema';
import { commandWords, quoteAll, splitWords } from './words';

/** Brokers only, for who comes later. */
export function isInteractive(spec: DefaultedSpec, runner: ContainerSpec): boolean {
  return spec.interactive === true || (!hasText(runner.command) && !hasText(runner.commands?.script));
}

/** Its command is submitted as a batch job. */
export function isBatch({ batch, batchRaw }: ContainerSpec): boolean {
  return batch === true || batchRaw === true;
}

/** Folder of a container's blocks and script. */
function blocksFolder(container: string): string {
  return `${SCRIPTS}/commands/${container}`;
}

/** `-N` and `-n` by upstream's rule. */
function sizeFlags({ tasks, size }: DefaultedSpec): string[] {
  if (tasks === 0) return ['-N', String(size)];
  return tasks >= size ? ['-N', String(size), '-n', String(tasks)] : ['-n', String(tasks)];
}

/** @param name name of the runner */
export function leadScript(spec: DefaultedSpec, runner: ContainerSpec, name: string): string {
  if (isInteractive(spec, runner)) return 'set -- "$@" -Sbroker.rc2_none\n';
  const words = [timed(spec), prefix(runner), started(spec, runner, name)].filter((each) => each !== '');
  return `set -- "$@" ${words.join(' ')}\n`;
}

function started(spec: DefaultedSpec, runner: ContainerSpec, name: string): string {
  if (isBatch(runner)) return batchWords(spec, name);
  const command = hasText(runner.commands?.script)
    ? `"$shell" ${blocksFolder(name)}/script.sh`
    : commandWords(runner.command ?? '');
  return runner.launcher === true ? command : `${quoteAll(submit(spec))} ${command}`;
}

const SUBMIT = ['flux', 'submit'];

function submit(spec: DefaultedSpec): string[] {
  const { submitCommand } = spec.flux;
  const submitter = submitCommand === undefined ? SUBMIT : splitWords(submitCommand);
  // Only `flux submit` returns before the job ends; to the others these are no options.
  const watch = submitter[1] === 'submit' ? ['--quiet', '--watch'] : [];
  return [...submitter, ...sizeFlags(spec), ...options(spec), ...watch];
}

function options({ flux, logging }: DefaultedSpec): string[] {
  return [
    ...(flux.optionFlags === undefined ? [] : splitWords(flux.optionFlags)),
    ...(logging.debug === true ? ['-vvv'] : []),
  ];
}

function batchWords(spec: DefaultedSpec, name: string): string {
  // The instance inside the batch job has shells of its own, which need the same settings.
  const broker =
    spec.flux.cpuAffinity === true
      ? []
      : [`--broker-opts=-Sconf.shell_initrc=${configFolder(spec)}/initrc.lua`];
  const flags = [...sizeFlags(spec), ...options(spec), '--output=kvs', ...broker];
  return `"$shell" ${SCRIPTS}/batch.sh ${quoteAll(flags)} ${blocksFolder(name)}/batch.sh`;
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
  return commands?.prefix === undefined ? '' : quoteAll(splitWords(commands.prefix));
}

function timed({ logging }: DefaultedSpec): string {
  return logging.timed === true ? `"$shell" ${SCRIPTS}/timed.sh fluxsubmit` : '';
}

function hasText(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== '';
}
