/** The commands for users run on every Node that cdk8s supports; what starts roles needs the Node of the images. */
import { FluxqError } from './errors';

/** Major version of Node in the images. */
const ROLES_NODE = 24;

/**
 * @param what what needs it, in the plural
 * @throws FluxqError FLUXQ_NODE
 */
export function requireRolesNode(what: string, remedy: string): void {
  const { node } = process.versions;
  if (Number(node.split('.')[0]) >= ROLES_NODE) return;
  throw new FluxqError('FLUXQ_NODE', `is too old for ${what}`, {
    field: 'Node',
    value: node,
    remedy: `${remedy} Node ${ROLES_NODE} or newer`,
  });
}
