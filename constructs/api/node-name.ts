/** What a node can be called, as Kubernetes allows it: no other text is written into an assignment, or taken for the name of one. */
export const NODE_NAME_PATTERN = '^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$';
