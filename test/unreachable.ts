/** Addresses at which nothing answers, for roles that must say so. */

/** No program listens on this port, because it is reserved. */
export const NOBODY = '127.0.0.1:1';

/** A kubeconfig of an apiserver at NOBODY. */
export const UNREACHABLE_KUBECONFIG = `apiVersion: v1
kind: Config
clusters: [{ name: none, cluster: { server: 'https://${NOBODY}' } }]
users: [{ name: me, user: { token: none } }]
contexts: [{ name: here, context: { cluster: none, user: me } }]
current-context: here
`;
