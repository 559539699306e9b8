/** The users of a test cluster with static tokens, and their kubeconfigs. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeCertificate } from '../../runtime/admission/certificates';

/**
 * `admin` is in group system:masters; `user` has only the permissions of system:authenticated; the other users belong to
 * the control plane.
 */
export type ClusterUser = 'admin' | 'user' | 'kcm' | 'scheduler' | 'kwok';

const USERS: Readonly<Record<ClusterUser, { name: string; groups: readonly string[] }>> = {
  admin: { name: 'admin', groups: ['system:masters'] },
  user: { name: 'user', groups: [] },
  kcm: { name: 'system:kube-controller-manager', groups: [] },
  scheduler: { name: 'system:kube-scheduler', groups: [] },
  kwok: { name: 'kwok', groups: ['system:masters'] },
};

export interface Credentials {
  readonly tokens: Readonly<Record<ClusterUser, string>>;
  /** CSV for kube-apiserver's --token-auth-file. */
  readonly tokenFile: string;
  /** PEM key that signs ServiceAccount tokens. */
  readonly serviceAccountKeyFile: string;
  readonly frontProxy: FrontProxyFiles;
}

/** A user of a test's own, e.g. a kubelet. */
export interface StaticUser {
  readonly name: string;
  readonly groups: readonly string[];
  readonly token: string;
}

/** Writes the token file and the ServiceAccount signing key into the directory. */
export async function writeCredentials(
  directory: string,
  others: readonly StaticUser[] = [],
): Promise<Credentials> {
  const names = Object.keys(USERS) as ClusterUser[];
  const tokens = Object.fromEntries(names.map((user) => [user, randomBytes(16).toString('hex')])) as Record<
    ClusterUser,
    string
  >;
  const own = names.map((user) => ({ ...USERS[user], token: tokens[user], uid: `${user}-uid` }));
  const users = [...own, ...others.map((user) => ({ ...user, uid: `${user.name}-uid` }))];
  const rows = users.map(({ token, name, uid, groups }) =>
    [token, name, uid, ...(groups.length > 0 ? [`"${groups.join(',')}"`] : [])].join(),
  );
  const tokenFile = join(directory, 'tokens.csv');
  writeFileSync(tokenFile, `${rows.join('\n')}\n`, { mode: 0o600 });

  // P-256, because an RSA key takes a tenth of a second.
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const serviceAccountKeyFile = join(directory, 'service-account.key');
  writeFileSync(serviceAccountKeyFile, privateKey.export({ type: 'sec1', format: 'pem' }), { mode: 0o600 });
  return { tokens, tokenFile, serviceAccountKeyFile, frontProxy: await writeFrontProxy(directory) };
}

/** Files of the certificate with which the apiserver calls other API servers. */
export interface FrontProxyFiles {
  readonly name: string;
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** Makes the certificate of the apiserver's proxy. */
async function writeFrontProxy(directory: string): Promise<FrontProxyFiles> {
  const name = 'front-proxy-client';
  const { cert, key, bundle } = await makeCertificate({ names: [name], now: new Date(), end: 'client' });
  const write = (file: string, text: string) => {
    const path = join(directory, file);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  return {
    name,
    caFile: write('front-proxy-ca.crt', bundle),
    certFile: write('front-proxy-client.crt', cert),
    keyFile: write('front-proxy-client.key', key),
  };
}

/** Writes a kubeconfig with a bearer token and returns its path. */
export function writeKubeconfig(
  directory: string,
  name: string,
  access: { server: string; caFile: string; token: string },
): string {
  const folder = join(directory, 'kubeconfigs');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.yaml`);
  // JSON is YAML.
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: access.server, 'certificate-authority': access.caFile } }],
    users: [{ name, user: { token: access.token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: name, namespace: 'default' } }],
    'current-context': 'test',
  };
  // A program that runs may be reading it.
  writeFileSync(`${path}.new`, JSON.stringify(config, null, 2), { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return path;
}
