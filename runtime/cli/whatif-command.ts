/** The command `whatif`, on the read API: nothing is created. */
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { QUEUE_POLICIES } from '../../constructs/api/policies';
import { FluxqError, messageOf } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { ask, whatIfs } from '../kubernetes/read-api';
import { MOST_MORE_NODES, READ_API, type WhatIf, type WhatIfSpec } from '../reader/kinds';
import { isObjectFormat, objectText, outputOption, printLines } from './output';
import { type AskedObject, objectsIn, WHATIF_KINDS } from './whatif-input';
import { whatIfLines } from './whatif-text';
import { inNamespace, type Scope, scoped } from './with-client';

interface Options extends Scope {
  readonly filename: string;
  readonly nodes?: number;
  readonly policy?: string;
  readonly priority?: number;
  readonly output: 'table' | 'json' | 'yaml';
}

export function addWhatIfCommand(program: Command): void {
  scoped(program.command('whatif'))
    .description(`say when ${WHATIF_KINDS} would start if you submitted it now; nothing is created`)
    .requiredOption('-f, --filename <file>', 'YAML or JSON of it; - reads stdin')
    .option(
      '--nodes <+number>',
      'with so many nodes more, like those that the cluster has most of',
      moreNodes,
    )
    .addOption(new Option('--policy <name>', 'if its queue had this policy').choices(QUEUE_POLICIES))
    .option('--priority <number>', 'if it had this priority', whole)
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action(printWhatIf);
}

function moreNodes(text: string): number {
  if (/^\+\d+$/.test(text) && Number(text) <= MOST_MORE_NODES) return Number(text);
  throw new InvalidArgumentError(`must be like +20, and at most +${MOST_MORE_NODES}: so many nodes more.`);
}

function whole(text: string): number {
  if (/^-?\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('must be a whole number.');
}

async function printWhatIf({ filename, output, nodes, policy, priority, ...scope }: Options): Promise<void> {
  const { objects, notes } = objectsIn(textOf(filename), filename === '-' ? 'stdin' : filename);
  for (const note of notes) process.stderr.write(`${note}\n`);
  const conditions = {
    ...(nodes !== undefined && { moreNodes: nodes }),
    ...(policy !== undefined && { policy }),
    ...(priority !== undefined && { priority }),
  };
  await inNamespace(scope, async (client, namespace) => {
    const answers: WhatIf[] = [];
    // One after the other: each is asked about alone, as if the others were not submitted.
    for (const asked of objects) {
      const where = namespaceOf(asked, scope.namespace, namespace);
      const answer = await askWhatIf(client, where, { object: asked.object, ...conditions });
      answers.push(answer);
      if (!isObjectFormat(output))
        printLines([...(answers.length > 1 ? [''] : []), ...whatIfLines(asked.name, answer)]);
    }
    if (!isObjectFormat(output)) return;
    const [only] = answers;
    const shown = answers.length === 1 ? only! : { apiVersion: 'v1', kind: 'List', items: answers };
    printLines([objectText(shown, output)]);
  });
}

function askWhatIf(client: KubernetesClient, namespace: string, spec: WhatIfSpec): Promise<WhatIf> {
  const body: WhatIf = { apiVersion: READ_API, kind: 'WhatIf', metadata: { namespace }, spec };
  return ask<WhatIf>(client, { verb: 'create', path: whatIfs(namespace), body, scope: { namespace } });
}

/** As kubectl applies it. @throws FluxqError FLUXQ_WHATIF_INPUT */
function namespaceOf(asked: AskedObject, given: string | undefined, otherwise: string): string {
  const { namespace, name } = asked;
  if (namespace === undefined || namespace === given) return given ?? otherwise;
  if (given === undefined) return namespace;
  throw new FluxqError('FLUXQ_WHATIF_INPUT', `is in another namespace than --namespace ${given}`, {
    field: `${name} metadata.namespace`,
    value: namespace,
    remedy: 'leave one of them out',
  });
}

function textOf(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new FluxqError('FLUXQ_WHATIF_INPUT', `can't be read: ${messageOf(error)}`, {
      field: file === '-' ? 'stdin' : file,
      remedy: 'give a readable file, or - for stdin',
      cause: error,
    });
  }
}
