/** Puts a file into a bucket of S3 or of a store with the same protocol. The SDK of AWS would be larger than the runtime. */
import { createHash } from 'node:crypto';
import { createReadStream, openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { AwsV4Signer } from 'aws4fetch';
import { FluxqError, messageOf } from '../errors';

export interface Bucket {
  /** URL of the store. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The store takes no larger object in one request. */
const MOST_BYTES = 5 * 2 ** 30;

/**
 * Stores a file under a key. The store compares the content with the signed hash, so what it has is complete.
 * @throws FluxqError FLUXQ_BACKUP_STORE
 */
export async function putFile(bucket: Bucket, key: string, file: string): Promise<void> {
  const { size } = await stat(file);
  const url = new URL(`${bucket.endpoint.replace(/\/+$/, '')}/${pathOf(`${bucket.bucket}/${key}`)}`);
  if (size > MOST_BYTES)
    throw refused(url, `has no room for ${size} bytes in one object`, 'lower `retention` of the queue');
  const { accessKeyId, secretAccessKey, region } = bucket;
  const { headers } = await new AwsV4Signer({
    method: 'PUT',
    url: url.href,
    headers: { 'x-amz-content-sha256': await hashOf(file) },
    service: 's3',
    accessKeyId,
    secretAccessKey,
    region,
  }).sign();
  const answer = await fetch(url, { method: 'PUT', body: await openAsBlob(file), headers }).catch(
    (error: Error) => {
      throw refused(url, `does not answer: ${messageOf(error.cause ?? error)}`, 'check the endpoint', error);
    },
  );
  const text = await answer.text();
  if (answer.ok) return;
  const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? '';
  throw refused(
    url,
    `answered ${answer.status} ${code}`.trim(),
    'check the bucket, the region and the credentials',
  );
}

function refused(url: URL, problem: string, remedy: string, cause?: unknown): FluxqError {
  return new FluxqError('FLUXQ_BACKUP_STORE', problem, { field: url.href, remedy, retryable: true, cause });
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(file)) hash.update(part as Buffer);
  return hash.digest('hex');
}

/** Every byte but letters, digits and `-._~/` is escaped, as the signature requires. */
function pathOf(text: string): string {
  return encodeURIComponent(text)
    .replaceAll('%2F', '/')
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
