/** Plays the attacks against a world and says what came of each. */
import { type Attack, CONTAINED, type Form } from './attack';
import type { Reply, World } from './world';

type Outcome = 'refused' | 'contained' | 'succeeded';

export interface Played {
  readonly attack: Attack;
  readonly outcome: Outcome;
  /** What the apiserver said. */
  readonly answer: string;
}

export async function play(world: World, form: Form, attacks: readonly Attack[]): Promise<readonly Played[]> {
  const played: Played[] = [];
  for (const attack of attacks.filter((one) => one.form === undefined || form !== 'policies')) {
    const reply = await send(world, attack);
    played.push({
      attack,
      outcome: outcomeOf(attack, reply, form),
      answer: `${reply.status} ${reply.message}`,
    });
  }
  return played;
}

async function send(world: World, { role, act, outcome }: Attack): Promise<Reply> {
  if (outcome === undefined) return world.send(role, act);
  const reply = await world.send(role, act, 'stored');
  return reply.status >= 300 ? reply : { ...reply, object: await world.untilExists(outcome) };
}

/** The policy of an older Kubernetes says this before any other policy says something. */
const NO_MINICLUSTER = 'no params found for policy binding';

/** A refusal for another reason than the expected one may hide that the attack is possible, so it counts as a success. */
function outcomeOf(
  { holds: { refused, contained } }: Attack,
  { status, object, message }: Reply,
  form: Form,
): Outcome {
  if (status < 300)
    return contained !== undefined && CONTAINED[contained](object) ? 'contained' : 'succeeded';
  const isRefusal = status === 403 || status === 409 || status === 422;
  const isExpected = refused !== undefined && [refused].flat().some((text) => message.includes(text));
  const isUnowned = form === 'older' && message.includes(NO_MINICLUSTER);
  return isRefusal && (isExpected || isUnowned) ? 'refused' : 'succeeded';
}
