/**
 * Who asks through the apiserver: it authenticates users and names them in headers. The headers are true only on a
 * connection with the certificate of its proxy; ConfigMap kube-system/extension-apiserver-authentication says what that
 * certificate and those headers are.
 */
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { FluxqError } from '../errors';
import type { Reader } from './resource';
import { Refusal } from './status';

export interface FrontProxy {
  /** PEM certificates of the CAs that sign the proxy's certificate. */
  readonly clientCas: string;
  /** Common names of the proxy; empty: each one that the CAs have signed. */
  readonly names: readonly string[];
  /** Names of headers, in lower case. */
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraPrefixes: readonly string[];
}

export const FRONT_PROXY_NAMESPACE = 'kube-system';
export const FRONT_PROXY_CONFIG_MAP = 'extension-apiserver-authentication';

/** @returns undefined if the cluster has no proxy @throws FluxqError FLUXQ_FRONT_PROXY_INVALID */
export function frontProxyOf(data: Readonly<Record<string, string>> = {}): FrontProxy | undefined {
  const clientCas = data['requestheader-client-ca-file'];
  if (clientCas === undefined || clientCas === '') return undefined;
  const headers = (key: string) =>
    listOf(data, key)
      .filter((name) => name !== '')
      .map((name) => name.toLowerCase());
  return {
    clientCas,
    names: listOf(data, 'requestheader-allowed-names'),
    usernameHeaders: headers('requestheader-username-headers'),
    // No default: an apiserver that does not name it passes on what a client has sent in it.
    uidHeaders: headers('requestheader-uid-headers'),
    groupHeaders: headers('requestheader-group-headers'),
    extraPrefixes: headers('requestheader-extra-headers-prefix'),
  };
}

function listOf(data: Readonly<Record<string, string>>, key: string): string[] {
  const text = data[key] ?? '';
  if (text === '') return [];
  const list = parsed(text);
  if (Array.isArray(list) && list.every((each) => typeof each === 'string')) return list;
  throw new FluxqError('FLUXQ_FRONT_PROXY_INVALID', 'must be a JSON list of strings', {
    field: `ConfigMap ${FRONT_PROXY_NAMESPACE}/${FRONT_PROXY_CONFIG_MAP}: ${key}`,
    value: text,
    remedy: 'the apiserver writes it from its flags --requestheader-*; restart the apiserver',
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller names the key.
    return undefined;
  }
}

/** Whether the client of the connection has a certificate that is valid now and names the proxy. */
export function isFrontProxy(socket: TLSSocket, { names }: FrontProxy, now: Date): boolean {
  if (!socket.authorized) return false;
  const { subject, valid_to } = socket.getPeerCertificate();
  // A connection may outlive the certificate; several common names are a list.
  if (!(Date.parse(valid_to) > now.getTime())) return false;
  return names.length === 0 || (typeof subject.CN === 'string' && names.includes(subject.CN));
}

/** The user in the headers. @returns undefined if they name none @throws Refusal 400 for bytes that are no text */
export function readerOf({ headersDistinct }: IncomingMessage, proxy: FrontProxy): Reader | undefined {
  const values = (names: readonly string[]) => names.flatMap((name) => textsOf(headersDistinct[name]));
  // The apiserver reads the first line of each header.
  const first = (names: readonly string[]) =>
    names.flatMap((name) => values([name]).slice(0, 1)).find((value) => value !== '');
  const username = first(proxy.usernameHeaders);
  if (username === undefined) return undefined;
  const uid = first(proxy.uidHeaders);
  const extra: Record<string, string[]> = Object.create(null);
  for (const [header, given] of Object.entries(headersDistinct)) {
    const prefix = proxy.extraPrefixes.find((each) => header.startsWith(each));
    if (prefix === undefined) continue;
    const key = unescaped(header.slice(prefix.length));
    extra[key] = [...(extra[key] ?? []), ...textsOf(given)];
  }
  return { username, ...(uid !== undefined && { uid }), groups: values(proxy.groupHeaders), extra };
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The apiserver writes names in UTF-8, and Node reads each byte of a header as one character: another name, perhaps that of somebody else. */
function textsOf(values: readonly string[] = []): readonly string[] {
  try {
    return values.map((value) => UTF_8.decode(Buffer.from(value, 'latin1')));
  } catch (cause) {
    throw new Refusal(400, 'a header that names the user is not UTF-8', cause);
  }
}

/** Keys of extra fields are escaped like URLs; what is not valid is meant as it is, as in the apiserver. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
