import { ApiError } from '../../runtime/kubernetes/errors';
import type { Lease } from '../../runtime/kubernetes/types';
import {
  FENCE_ANNOTATION,
  LAST_FENCE_ANNOTATION,
  LeaseRecord,
  type LeaseRecordOptions,
} from '../../runtime/leader/lease';
import { ManualClock } from '../kubernetes/manual-clock';

const refusal = (status: number) =>
  new ApiError({ status, reason: 'Unknown', message: 'no', retryAfterSeconds: undefined });

/** An apiserver that stores one Lease. */
class OneLease {
  readonly clock = new ManualClock();
  stored: Lease | undefined;
  private version = 0;
  readonly record = new LeaseRecord({
    client: {
      get: async () => {
        if (this.stored === undefined) throw refusal(404);
        return this.stored;
      },
      create: (_: string, body: Lease) => this.write(body),
      update: (_: string, body: Lease) => this.write(body),
    } as unknown as LeaseRecordOptions['client'],
    namespace: 'default',
    name: 'leader',
    timeout: 1_000,
    clock: this.clock,
  });

  annotate(annotations: Record<string, string>): void {
    this.stored = this.next({ ...this.stored!.metadata, annotations });
  }

  private async write({ metadata, spec }: Lease): Promise<Lease> {
    if (metadata.resourceVersion !== this.stored?.metadata.resourceVersion) throw refusal(409);
    this.stored = this.next(metadata, spec);
    return this.stored;
  }

  private next(metadata: Lease['metadata'], spec = this.stored?.spec): Lease {
    this.version += 1;
    return { metadata: { ...metadata, resourceVersion: `${this.version}` }, ...(spec && { spec }) };
  }
}

test('keeps the highest fence when the Lease gets a holder without one', async () => {
  const { record } = new OneLease();
  await record.write({ holderIdentity: 'a' }, 7);
  await record.write({ holderIdentity: 'b' }, undefined);
  expect(record.holder).toBe('b');
  expect(record.lastFence).toBe(7);
});

test.each([
  ['text', 'many', 0],
  ['a negative number', '-3', 0],
  ['a number without room for a higher one', `${2 ** 53}`, 0],
  ['a whole number', '12', 12],
])('reads %s (%s) as fence %d', async (_, value, fence) => {
  const lease = new OneLease();
  await lease.record.write({}, undefined);
  lease.annotate({ [FENCE_ANNOTATION]: value, [LAST_FENCE_ANNOTATION]: 'none' });
  await lease.record.read();
  expect(lease.record.lastFence).toBe(fence);
});

test('writes nothing onto a version that it has not read', async () => {
  const lease = new OneLease();
  await lease.record.write({ holderIdentity: 'a' }, 1);
  lease.annotate({ note: 'changed' });
  expect(await lease.record.write({ holderIdentity: 'b' }, 2)).toBe(false);
  await lease.record.read();
  expect(await lease.record.write({ holderIdentity: 'b' }, 2)).toBe(true);
  expect(lease.stored?.metadata.annotations).toMatchObject({ note: 'changed', [FENCE_ANNOTATION]: '2' });
});

test('measures the age of a version from the moment it was seen first', async () => {
  const { record, clock } = new OneLease();
  await record.write({ holderIdentity: 'a' }, 1);
  clock.freeze(3_000);
  await record.read();
  expect(record.age).toBe(3_000);
  await record.write({ holderIdentity: 'a' }, 1);
  expect(record.age).toBe(0);
});
