/** Fair share of a replay: off, or on with weights of queues. */
import { InvalidArgumentError } from 'commander';
import { QUEUE_RANGES } from '../../constructs/api/queue-defaults';
import { FluxqError } from '../errors';
import type { Trace } from './swf';

/** Weights by number or name of the queue, as the user gave them; a queue without one has the weight 1. */
export type GivenWeights = ReadonlyMap<string, number>;

/** How the queues of a replay share the machine. */
export interface Sharing {
  /** For tables and legends. */
  readonly label: string;
  /** Weights of queues by their names. @default - fair share is off */
  readonly weights?: ReadonlyMap<string, number>;
}

const MODES = ['off', 'on'] as const;
export type FairShareMode = (typeof MODES)[number];

/** @param text `off`, `on`, or both, separated by a comma */
export function parseFairShare(text: string): readonly FairShareMode[] {
  return [...new Set(text.split(',').map(modeOf))];
}

function modeOf(name: string): FairShareMode {
  const found = MODES.find((mode) => mode === name);
  if (found !== undefined) return found;
  throw new InvalidArgumentError('must be off, on, or off,on.');
}

/** @param text `1=3,gpu=2`; given again it is one more comparison */
export function parseWeights(text: string, before: readonly GivenWeights[] = []): readonly GivenWeights[] {
  const pairs = text.split(',').map(weightOf);
  const weights = new Map(pairs);
  if (weights.size < pairs.length) throw new InvalidArgumentError('must name each queue once.');
  return [...before, weights];
}

function weightOf(text: string): readonly [string, number] {
  const [, queue, number] = /^(.+)=(\d+)$/.exec(text) ?? [];
  const weight = Number(number);
  const { min, max } = QUEUE_RANGES.weight;
  if (queue !== undefined && weight >= min && weight <= max) return [queue, weight];
  throw new InvalidArgumentError(
    `must be QUEUE=WEIGHT, separated by commas, with whole weights from ${min} to ${max}.`,
  );
}

/**
 * What is compared: the modes, then the weights. Without any of them fair share is off.
 *
 * @throws FluxqError FLUXQ_SIMULATION_QUEUE if a weight names a queue that no job of the trace has
 */
export function sharingsOf(
  trace: Pick<Trace, 'queues'>,
  modes: readonly FairShareMode[],
  weights: readonly GivenWeights[],
): readonly Sharing[] {
  const chosen: readonly FairShareMode[] = modes.length + weights.length === 0 ? ['off'] : modes;
  return [
    ...chosen.map(sharingOf),
    ...weights.map((given) => ({ label: labelOf(given), weights: namedWeights(trace, given) })),
  ];
}

function sharingOf(mode: FairShareMode): Sharing {
  return mode === 'off' ? { label: 'no fair share' } : { label: 'fair share', weights: new Map() };
}

function labelOf(weights: GivenWeights): string {
  return [...weights].map(([queue, weight]) => `${queue}=${weight}`).join(' ');
}

function namedWeights({ queues }: Pick<Trace, 'queues'>, given: GivenWeights): ReadonlyMap<string, number> {
  return new Map(
    [...given].map(([queue, weight]) => {
      // A name wins: a queue may be named like the number of another.
      const found =
        queues.find(({ name }) => name === queue) ?? queues.find(({ number }) => `${number}` === queue);
      if (found !== undefined) return [found.name, weight];
      throw new FluxqError('FLUXQ_SIMULATION_QUEUE', 'is not a queue of the trace', {
        field: '--weights',
        value: queue,
        remedy: `use ${queues.map(queueText).join(', ')}`,
      });
    }),
  );
}

function queueText({ number, name }: Trace['queues'][number]): string {
  return `${number}` === name ? name : `${number} or ${name}`;
}
