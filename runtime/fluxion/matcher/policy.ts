/** The match policies of flux-sched by name. */
import { FluxqError } from '../../errors';

export interface Policy {
  /** `high`: greater scores first; `low`: smaller scores first; `locality`: runs with higher ids first. */
  readonly prefer: 'high' | 'low' | 'locality';
  /** The id of a node counts in the scores of the vertices below it. */
  readonly nodeCentric: boolean;
  /** A node is allocated as a whole when any unit of it is. */
  readonly nodeExclusive: boolean;
  /** Explores children by weight and stops as soon as enough candidates are found (`stop_on_1_matches`). */
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
 * @param name of a policy, or the custom form `policy=low node_centric=true`; the empty name is `first`
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
  return new FluxqError('FLUXQ_FLUXION_POLICY', 'the match policy is not known', {
    field: 'policy',
    value: name,
    remedy: `use one of: ${Object.keys(NAMED).join(', ')}`,
  });
}
