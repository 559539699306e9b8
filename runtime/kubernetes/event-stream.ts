/** Splits the answer of a watch into its events: lines of JSON, or frames of protobuf. */
import { apiError } from './errors';

/** Bytes. The largest object of the apiserver has 3 MB: etcd refuses larger requests, and protobuf is smaller than JSON. */
const LONGEST_FRAME = 64 * 1024 * 1024;
/** A frame begins with its length, big-endian. */
const HEADER = 4;

/** Takes a stream of bytes in any parts. */
interface EventStream {
  /** Passes on each event that is complete. @throws what the receiver of the events throws */
  push(chunk: Buffer): void;
  /** Whether the bytes so far end in the middle of an event. */
  readonly isCut: boolean;
}

/** A line of 200 kB comes in many parts and is joined once. */
export class Lines implements EventStream {
  #parts: Buffer[] = [];

  /** @param onLine gets a line without its line end */
  constructor(private readonly onLine: (line: string) => void) {}

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const line =
        this.#parts.length === 0
          ? chunk.toString('utf8', from, end)
          : Buffer.concat([...this.#parts, chunk.subarray(from, end)]).toString('utf8');
      this.#parts = [];
      from = end + 1;
      if (line !== '') this.onLine(line);
    }
    if (from < chunk.length) this.#parts.push(chunk.subarray(from));
  }

  get isCut(): boolean {
    return this.#parts.length > 0;
  }
}

/** A frame that comes in many parts is joined once, when its last part is there. */
export class Frames implements EventStream {
  #parts: Buffer[] = [];
  #size = 0;
  /** Bytes without which nothing more can be read. */
  #needed = HEADER;

  /**
   * @param onFrame gets a frame without its length
   * @param request for messages, as `GET /api/v1/pods`
   */
  constructor(
    private readonly onFrame: (frame: Buffer) => void,
    private readonly request: string,
  ) {}

  /** @throws ApiError if a frame is too long */
  push(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#needed) return;
    const bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts);
    let from = 0;
    for (;;) {
      this.#needed = this.#frameLength(bytes, from);
      const end = from + this.#needed;
      if (end > bytes.length) break;
      this.onFrame(bytes.subarray(from + HEADER, end));
      from = end;
    }
    this.#size = bytes.length - from;
    this.#parts = this.#size === 0 ? [] : [bytes.subarray(from)];
  }

  get isCut(): boolean {
    return this.#size > 0;
  }

  /** With its header; the header alone while its bytes are not there. */
  #frameLength(bytes: Buffer, from: number): number {
    if (bytes.length - from < HEADER) return HEADER;
    const length = bytes.readUInt32BE(from);
    if (length <= LONGEST_FRAME) return HEADER + length;
    throw apiError(502, `the answer has an event of ${length} bytes`, undefined, this.request);
  }
}
