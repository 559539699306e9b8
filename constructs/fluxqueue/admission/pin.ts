/**
 * CEL of the affinity to one node, for JSON patches: ApplyConfiguration replaces whole lists. The values are typed objects,
 * because all values of a CEL map have one type.
 * @param affinity type of the affinity, e.g. `Object.spec.affinity`
 * @param node CEL: name of the node
 */
export function pinTo(affinity: string, node: string) {
  const nodeAffinity = `${affinity}.nodeAffinity`;
  const required = `${nodeAffinity}.requiredDuringSchedulingIgnoredDuringExecution`;
  const term = `${required}.nodeSelectorTerms`;
  const onNode = `${term}.matchFields{key: "metadata.name", operator: "In", values: [${node}]}`;
  const ofRequired = `${required}{nodeSelectorTerms: [${term}{matchFields: [${onNode}]}]}`;
  const ofNodeAffinity = `${nodeAffinity}{requiredDuringSchedulingIgnoredDuringExecution: ${ofRequired}}`;
  return {
    onNode,
    required: ofRequired,
    nodeAffinity: ofNodeAffinity,
    affinity: `${affinity}{nodeAffinity: ${ofNodeAffinity}}`,
  };
}
