/** The object that a request brings. */
import type { IncomingMessage } from 'node:http';
import { messageOf } from '../errors';
import { BodyError, readBody } from '../https/server';
import { Refusal } from './status';

/** The most values of which each is in the one before. */
const MAX_DEPTH = 100;

/** @param limit bytes @throws Refusal 400, 413 */
export async function objectOf(request: IncomingMessage, limit: number): Promise<object> {
  const text = await readBody(request, limit).catch((error: unknown) => {
    throw error instanceof BodyError ? new Refusal(error.status, `the body ${error.message}`, error) : error;
  });
  let object: unknown;
  try {
    object = JSON.parse(text);
  } catch (cause) {
    throw new Refusal(400, `the body is not valid JSON: ${messageOf(cause)}`, cause);
  }
  if (typeof object !== 'object' || object === null || Array.isArray(object))
    throw new Refusal(400, 'the body must be an object');
  if (isDeeper(object, MAX_DEPTH))
    throw new Refusal(400, `the body has values in more than ${MAX_DEPTH} others; no manifest has`);
  return object;
}

/** Functions that call themselves for each level of an object cannot do so without end. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}
