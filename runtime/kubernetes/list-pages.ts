/**
 * Pages of a list that fit into memory. Users can make objects of more than a megabyte: a page of 500 of them would take more than
 * there is, in whichever namespace they are, so a page that is too large is read again with fewer objects.
 */
import type { Encoding, KubernetesClient } from './client';
import { isTooLarge } from './errors';
import type { Selection } from './query';
import type { KubernetesList } from './types';

/** Bytes. What is made of them in memory is several times as much. */
const MOST_PAGE_BYTES = 2 ** 26;

type Part = Selection & Encoding;
type Lists = Pick<KubernetesClient, 'list'>;

/** @param most objects of a page; undefined: all of them in one page, whatever they take */
export async function* pagesOf<T>(
  client: Lists,
  path: string,
  part: Part,
  most: number | undefined,
): AsyncGenerator<KubernetesList<T>> {
  if (most === undefined) {
    yield await client.list<T>(path, part);
    return;
  }
  for (let size = most, token: string | undefined; token !== ''; ) {
    const options = { ...part, ...(token !== undefined && { continue: token }) };
    const page: Page<T> = await readPage(client, path, options, size);
    yield page.list;
    size = page.size;
    token = page.list.metadata.continue ?? '';
  }
}

interface Page<T> {
  readonly list: KubernetesList<T>;
  /** The number of objects that fit. */
  readonly size: number;
}

async function readPage<T>(client: Lists, path: string, options: Part, most: number): Promise<Page<T>> {
  for (let size = most; ; size = Math.ceil(size / 4)) {
    try {
      const list = await client.list<T>(path, { ...options, limit: size, mostBytes: MOST_PAGE_BYTES });
      return { list, size };
    } catch (error) {
      if (size === 1 || !isTooLarge(error)) throw error;
    }
  }
}
