/** Rights that the user of the command lacks, in the words of RBAC. */
import { type Finding, unknown } from './finding';

const REFUSAL =
  /User ".*?" cannot (\w+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?/;

/** `list leases.coordination.k8s.io in namespace a`; undefined if RBAC did not refuse it. */
export function missingRight(message: string): string | undefined {
  const [, verb, resource, group, namespace] = REFUSAL.exec(message) ?? [];
  if (verb === undefined) return undefined;
  const kind = group === '' || group === undefined ? resource : `${resource}.${group}`;
  return `${verb} ${kind}${namespace === undefined ? ' in the whole cluster' : ` in namespace ${namespace}`}`;
}

/** A check that needs a right that its user lacks. */
export function noRight(message: string): Finding {
  const right = missingRight(message);
  return unknown(
    right === undefined ? `not checked: ${message}` : `not checked: you may not ${right}`,
    'run this as a user with that right; the role cluster-admin has all of them',
  );
}
