import { Frames, Lines } from '../../runtime/kubernetes/event-stream';
import { framed } from './protobuf-encoding';

const FRAMES = [Buffer.from('first'), Buffer.alloc(0), Buffer.alloc(70_000, 7)];
const STREAM = Buffer.concat(FRAMES.map(framed));

function framesOf(chunks: readonly Buffer[]): { frames: Buffer[]; isCut: boolean } {
  const frames: Buffer[] = [];
  const stream = new Frames((frame) => frames.push(Buffer.from(frame)), 'GET /pods');
  for (const chunk of chunks) stream.push(chunk);
  return { frames, isCut: stream.isCut };
}

test('splits a stream of frames', () => {
  expect(framesOf([STREAM])).toEqual({ frames: FRAMES, isCut: false });
});

test('splits a stream of frames that comes in two parts, wherever it is divided', () => {
  const short = Buffer.concat([framed(Buffer.from('first')), framed(Buffer.from('second'))]);
  for (let at = 0; at <= short.length; at += 1)
    expect(framesOf([short.subarray(0, at), short.subarray(at)]).frames.map(String)).toEqual([
      'first',
      'second',
    ]);
});

test('splits a stream of frames that comes byte by byte', () => {
  const bytes = Array.from(STREAM, (byte) => Buffer.from([byte]));
  expect(framesOf(bytes)).toEqual({ frames: FRAMES, isCut: false });
});

test('sees a stream that ends in the middle of a frame', () => {
  for (const at of [1, 3, 4, 8])
    expect(framesOf([STREAM.subarray(0, at)])).toEqual({ frames: [], isCut: true });
});

test('refuses a frame of more than 64 MiB before its bytes come', () => {
  expect(() => framesOf([Buffer.from([255, 255, 255, 255])])).toThrow(
    'GET /pods: HTTP 502 the answer has an event of 4294967295 bytes',
  );
  expect(framesOf([Buffer.from([4, 0, 0, 0])])).toEqual({ frames: [], isCut: true });
});

test('splits lines wherever they are divided, also in the middle of a character', () => {
  const text = Buffer.from('{"a":"ä€𝄞"}\n\n{"b":1}\n');
  for (let at = 0; at <= text.length; at += 1) {
    const lines: string[] = [];
    const stream = new Lines((line) => lines.push(line));
    stream.push(text.subarray(0, at));
    stream.push(text.subarray(at));
    expect([lines, stream.isCut]).toEqual([['{"a":"ä€𝄞"}', '{"b":1}'], false]);
  }
});
