import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { readTrace, readTraceFrom } from '../../runtime/simulation/trace-file';
import { swfTrace } from './trace';

const folder = mkdtempSync(join(tmpdir(), 'trace-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('reads plain and gzip files alike', () => {
  const text = swfTrace({ jobs: 20, cores: 64, load: 0.9 });
  const [plain, packed] = [join(folder, 'a.swf'), join(folder, 'a.swf.gz')];
  writeFileSync(plain, text);
  writeFileSync(packed, gzipSync(text));
  expect(readTrace(plain).jobs).toHaveLength(20);
  expect(readTrace(packed)).toEqual(readTrace(plain));
});

test('reads what another program prints, plain or gzip', async () => {
  const bytes = Buffer.from(swfTrace({ jobs: 20, cores: 64, load: 0.9 }));
  const parts = (whole: Buffer) => Readable.from([whole.subarray(0, 1), whole.subarray(1)]);
  expect((await readTraceFrom(parts(bytes), 'standard input')).jobs).toHaveLength(20);
  expect((await readTraceFrom(parts(gzipSync(bytes)), 'standard input')).jobs).toHaveLength(20);
  await expect(readTraceFrom(Readable.from([Buffer.from('no trace')]), 'standard input')).rejects.toThrow(
    'FLUXQ_TRACE_INVALID: standard input:1: has 2 fields',
  );
});

test('reports a missing or broken file in one sentence', () => {
  const broken = join(folder, 'broken.gz');
  writeFileSync(broken, Buffer.from([0x1f, 0x8b, 1, 2, 3]));
  for (const file of [join(folder, 'none.swf'), broken])
    expect(() => readTrace(file)).toThrow(
      expect.objectContaining({ code: 'FLUXQ_TRACE_UNREADABLE', message: expect.not.stringContaining('\n') }),
    );
});
