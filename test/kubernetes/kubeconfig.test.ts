import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { loadAccess } from '../../runtime/kubernetes/kubeconfig';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'fluxqueue-kubeconfig-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const GOOD = `
clusters:
- name: east
  cluster: {server: "https://east:6443/", certificate-authority: pki/ca.crt, tls-server-name: kubernetes}
- name: west
  cluster: {server: "https://west:6443"}
users:
- name: ann
  user: {tokenFile: ann.token}
- name: bob
  user: {token: secret}
contexts:
- name: work
  context: {cluster: east, user: ann, namespace: train}
- name: home
  context: {cluster: west, user: bob}
- name: lost
  context: {cluster: north, user: bob}
- name: nobody
  context: {cluster: west, user: eve}
- name: open
  context: {cluster: west}
current-context: work
`;

test('uses the current context, with paths relative to the file', () => {
  const access = loadAccess({ kubeconfig: file('config', GOOD) });
  expect(access).toMatchObject({
    cluster: {
      server: 'https://east:6443',
      caFile: join(directory, 'pki/ca.crt'),
      tlsServerName: 'kubernetes',
    },
    user: { name: 'ann', tokenFile: join(directory, 'ann.token') },
    namespace: 'train',
  });
});

test('uses a named context, also one without a user', () => {
  const kubeconfig = file('config', GOOD);
  expect(loadAccess({ kubeconfig, context: 'home' })).toMatchObject({
    cluster: { server: 'https://west:6443' },
    user: { token: 'secret' },
    namespace: undefined,
  });
  expect(loadAccess({ kubeconfig, context: 'open' }).user.token).toBeUndefined();
});

test('merges the files of KUBECONFIG; the first definition wins', () => {
  const first = file('first', 'current-context: home');
  const environment = { KUBECONFIG: [first, file('second', GOOD)].join(delimiter) };
  expect(loadAccess({ environment }).cluster.name).toBe('west');
});

test('uses the ServiceAccount in a pod without a kubeconfig', () => {
  file('namespace', 'fluxqueue-system\n');
  const environment = { HOME: directory, KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  expect(loadAccess({ environment, serviceAccount: directory })).toMatchObject({
    cluster: { server: 'https://[fd00::1]:443', caFile: join(directory, 'ca.crt') },
    user: { tokenFile: join(directory, 'token') },
    namespace: 'fluxqueue-system',
  });
});

describe('an invalid kubeconfig is reported in one sentence:', () => {
  const refusal = (text: string | undefined, context?: string): string => {
    const kubeconfig = text === undefined ? join(directory, 'config') : file('config', text);
    try {
      loadAccess({ kubeconfig, ...(context !== undefined && { context }) });
    } catch (error) {
      expect(error).toMatchObject({ code: 'FLUXQ_KUBECONFIG', field: kubeconfig, retryable: false });
      const { message } = error as Error;
      expect(message).not.toContain('\n');
      return message.replace(kubeconfig, 'FILE');
    }
    throw new Error('was accepted');
  };

  test.each([
    [
      'missing file',
      undefined,
      undefined,
      /FILE: the file does not exist; give the path of a kubeconfig file$/,
    ],
    ['invalid YAML', 'clusters: [', undefined, /FILE: is not valid YAML: .* at line 1/],
    [
      'plain text',
      'just text',
      undefined,
      /FILE: is not a kubeconfig; give a file with clusters, users and contexts$/,
    ],
    [
      'unknown context',
      GOOD,
      'moon',
      /FILE: has no context of this name \(got "moon"\); name one of: work, home, lost, nobody, open$/,
    ],
    [
      'unknown cluster',
      GOOD,
      'lost',
      /FILE: has no cluster of this name \(got "north"\); name one of: east, west$/,
    ],
    ['unknown user', GOOD, 'nobody', /FILE: has no user of this name \(got "eve"\); name one of: ann, bob$/],
    [
      'no current context',
      GOOD.replace('current-context: work', ''),
      undefined,
      /FILE: has no current-context; name one of: work, home/,
    ],
    ['empty', 'clusters: []', undefined, /FILE: has no current-context; name one of: \(none\)$/],
    [
      'no server',
      GOOD.replace('server: "https://east:6443/", ', ''),
      undefined,
      /FILE: clusters\[0\]\.cluster\.server is missing; repair the file$/,
    ],
    [
      'bad server',
      GOOD.replace('https://east:6443/', 'east'),
      undefined,
      /FILE: the cluster has no valid server address \(got "east"\); write https:\/\/HOST:PORT$/,
    ],
  ])('%s', (_, text, context, expected) => {
    expect(refusal(text, context)).toMatch(expected);
  });

  test('reports that no kubeconfig exists', () => {
    expect(() => loadAccess({ environment: { HOME: directory } })).toThrow(
      `FLUXQ_KUBECONFIG: ${join(directory, '.kube/config')}: the file does not exist, and this process is not in a pod; give a kubeconfig or set KUBECONFIG`,
    );
  });
});
