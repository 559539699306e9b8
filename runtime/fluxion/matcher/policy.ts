/** What a match policy's name stands for (flux-sched's policy table). */
import { FluxqError } from '../../errors';

export interface Policy {
  /** `high`: the greater score first; `low`: the smaller; `locality`: the higher run of ids first. */
  readonly prefer: 'high' | 'low' | 'locality';
  /** A node's own id weighs in the scores of what is below it. */
  readonly nodeCentric: boolean;
  /** Every node that gives anything is given whole. */
  readonly nodeExclusive: boolean;
  /** Explore by weight and stop as soon as enough was found. */
  readonly stopOnFirst: boolean;
}

const NAMED: Readonly<Record<string, string>> = {
  first: 'policy=high node_centric=true stop_on_1_matches=true',
  firstnodex: 'policy=high node_centric=true node_exclusive=true stop_on_1_matches=true',
  high: 'policy=high',
  low: 'policy=low',
  hinode: 'policy=high node_centric=true',
  lonode: 'policy=low node_centric=true',
  hinodex: 'policy=high node_centric=true node_exclusive=true',
  lonodex: 'policy=low node_centric=true node_exclusive=true',
  locality: 'policy=locality',
};

const FLAGS: ReadonlySet<string> = new Set(['node_centric', 'node_exclusive', 'stop_on_1_matches']);

/**
 * @param name of a policy, or its custom form `policy=low node_centric=true`; empty is `first`
 * @throws FluxqError FLUXQ_FLUXION_POLICY
 */
export function policyOf(name: string): Policy {
  const own = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
  const text = own ?? (name === '' ? NAMED.first! : name);
  const flags = new Map<string, string>();
  for (const word of text.trim().split(/\s+/)) {
    const [key, value, ...rest] = word.split('=');
    if (key === undefined || value === undefined || rest.length > 0) throw unknown(name);
    flags.set(key, value);
  }
  const prefer = flags.get('policy');
  if (prefer !== 'high' && prefer !== 'low' && !(prefer === 'locality' && own !== undefined))
    throw unknown(name);
  for (const [key, value] of flags) {
    if (key !== 'policy' && !(FLAGS.has(key) && /^(true|false)$/.test(value))) throw unknown(name);
  }
  return {
    prefer,
    nodeCentric: flags.get('node_centric') === 'true',
    nodeExclusive: flags.get('node_exclusive') === 'true',
    stopOnFirst: flags.get('stop_on_1_matches') === 'true',
  };
}

function unknown(name: string): FluxqError {
  return new FluxqError('FLUXQ_FLUXION_POLICY', 'no such match policy', {
    field: 'policy',
    value: name,
    remedy: `name one of ${Object.keys(NAMED).join(', ')}`,
  });
}
