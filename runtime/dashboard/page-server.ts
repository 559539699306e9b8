/** What both forms of the dashboard answer to a browser: the page with its parts, events, and what the page asks for. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../errors';
import type { Answer, HistoryView, UsageView } from './messages';
import page from './page.json';

/** What one reader may see. */
export interface PageSource {
  /** Sends events to the reader until the response is closed. */
  events(response: ServerResponse): void;
  /** The events of all workloads of this name. */
  history(namespace: string, name: string): Promise<Answer<HistoryView>>;
  /** The allocated hours of the current month. */
  usage(): Promise<Answer<UsageView>>;
}

const PARTS: Readonly<Record<string, { readonly type: string; readonly body: string }>> = {
  'page.js': { type: 'text/javascript; charset=utf-8', body: page.script },
  'page.css': { type: 'text/css; charset=utf-8', body: page.style },
};

/**
 * The page may share its origin with all that an apiserver serves, so that 'self' would allow scripts of others. A nonce allows those of the
 * page alone.
 */
export function headers(nonce?: string) {
  const own =
    nonce === undefined
      ? ''
      : `script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; connect-src 'self'; `;
  return {
    'content-security-policy': `default-src 'none'; ${own}base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
  };
}

/** @param path what follows the address of the page */
export async function answerPage(
  { method }: IncomingMessage,
  response: ServerResponse,
  path: string,
  source: PageSource,
): Promise<void> {
  const asked = partsOf(path);
  const [part = '', namespace, name] = asked;
  if (method !== 'GET') refuse(response, 405, 'This page is read-only.');
  else if (path === '') sendPage(response);
  else if (path === 'events') source.events(response);
  else if (path === 'usages') await sendAnswer(response, () => source.usage());
  else if (part === 'histories' && namespace && name && asked.length === 3)
    await sendAnswer(response, () => source.history(namespace, name));
  else sendPart(response, path);
}

/** The parts of a path; none if they cannot be read. */
function partsOf(path: string): readonly string[] {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch (error) {
    if (error instanceof URIError) return [];
    throw error;
  }
}

function sendPage(response: ServerResponse): void {
  const nonce = randomBytes(16).toString('base64url');
  response
    .writeHead(200, { ...headers(nonce), 'content-type': 'text/html; charset=utf-8' })
    .end(page.html.replaceAll('NONCE', nonce));
}

/** Leads the browser to another address. The apiserver does not pass on redirects of the servers behind it. */
export function sendForward(response: ServerResponse, address: string): void {
  response.writeHead(200, { ...headers(), 'content-type': 'text/html; charset=utf-8' }).end(`<!doctype html>
<html lang="en">
<title>fluxqueue</title>
<meta http-equiv="refresh" content="0; url=${address}">
<p><a href="${address}">The dashboard is here.</a></p>
</html>
`);
}

function sendPart(response: ServerResponse, path: string): void {
  const file = Object.hasOwn(PARTS, path) ? PARTS[path] : undefined;
  if (file === undefined) refuse(response, 404, 'There is no such file.');
  else response.writeHead(200, { ...headers(), 'content-type': file.type }).end(file.body);
}

async function sendAnswer(response: ServerResponse, ask: () => Promise<Answer<object>>): Promise<void> {
  const answer = await ask().catch((error: unknown) => ({ problem: messageOf(error) }));
  response
    .writeHead(200, { ...headers(), 'content-type': 'application/json; charset=utf-8' })
    .end(JSON.stringify(answer));
}

export function refuse(response: ServerResponse, status: number, sentence: string): void {
  response
    .writeHead(status, { ...headers(), 'content-type': 'text/plain; charset=utf-8' })
    .end(`${sentence}\n`);
}
