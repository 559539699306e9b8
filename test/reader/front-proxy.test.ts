/** What ConfigMap kube-system/extension-apiserver-authentication says. */
import { frontProxyOf } from '../../runtime/reader/front-proxy';

const DATA = {
  'client-ca-file': 'CA of users',
  'requestheader-client-ca-file': 'CA of the proxy',
  'requestheader-allowed-names': '["front-proxy-client"]',
  'requestheader-username-headers': '["X-Remote-User"]',
  'requestheader-group-headers': '["X-Remote-Group","X-Group"]',
  'requestheader-extra-headers-prefix': '["X-Remote-Extra-",""]',
};

test('the CA, the names and the headers of the proxy', () => {
  expect(frontProxyOf(DATA)).toEqual({
    clientCas: 'CA of the proxy',
    names: ['front-proxy-client'],
    usernameHeaders: ['x-remote-user'],
    // An apiserver that does not name it leaves X-Remote-Uid as the client has sent it.
    uidHeaders: [],
    groupHeaders: ['x-remote-group', 'x-group'],
    // An empty prefix would make a field of every header.
    extraPrefixes: ['x-remote-extra-'],
  });
  const uid = { 'requestheader-uid-headers': '["X-Uid"]' };
  expect(frontProxyOf({ ...DATA, ...uid })?.uidHeaders).toEqual(['x-uid']);
});

test('a cluster without a proxy, as without the CA of users, has none', () => {
  for (const data of [undefined, {}, { ...DATA, 'requestheader-client-ca-file': '' }])
    expect(frontProxyOf(data)).toBeUndefined();
});

test.each(['X-Remote-User', '{}', '[1]'])('a list that cannot be read is refused: %s', (text) => {
  expect(() => frontProxyOf({ ...DATA, 'requestheader-username-headers': text })).toThrow(
    /^FLUXQ_FRONT_PROXY_INVALID: .*requestheader-username-headers: must be a JSON list of strings/,
  );
});
