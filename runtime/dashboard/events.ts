/** Server-sent events to pages. */
import type { ServerResponse } from 'node:http';
import type { Changes } from './messages';
import { headers } from './page-server';

/**
 * Events that a page can be told: `all` there is, `changes` since then, `refused` with a sentence (the page tries again later), and `again`:
 * the page connects again at once.
 */
type EventName = 'all' | 'changes' | 'refused' | 'again';

/** Bytes that wait to be sent to a browser that reads too slowly; it connects again and is told all there is. */
const MOST_WAITING = 64 * 1024 * 1024;

/** Bytes that are written at once: what is written is encrypted for each page, and what waits is shared by all. */
const PART = 64 * 1024;

/** The events of one page. */
export interface PageEvents {
  /** A listener of a view. */
  readonly tell: (changes: Changes) => void;
  /** Ends them; the page connects again. */
  readonly end: () => void;
}

/** Writes events. A message that many are told is turned into text once. */
export class EventWriter {
  private readonly texts = new WeakMap<Changes, Buffer>();

  open(response: ServerResponse): PageEvents {
    begin(response);
    const queue = new WriteQueue(response);
    let name: EventName = 'all';
    return {
      tell: (changes) => {
        queue.add(this.textOf(name, changes));
        name = 'changes';
      },
      end: () => {
        // Browsers drop an event that is not whole.
        if (queue.isEmpty) response.end(eventText('again', ''));
        else response.destroy();
      },
    };
  }

  private textOf(name: EventName, changes: Changes): Buffer {
    const known = this.texts.get(changes);
    if (known !== undefined) return known;
    const text = Buffer.from(eventText(name, changes));
    this.texts.set(changes, text);
    return text;
  }
}

/** What waits for one page. */
class WriteQueue {
  private readonly waiting: Buffer[] = [];
  private bytes = 0;
  private isBlocked = false;

  constructor(private readonly response: ServerResponse) {
    response.on('drain', () => {
      this.isBlocked = false;
      this.write();
    });
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  add(text: Buffer): void {
    this.waiting.push(text);
    this.bytes += text.length;
    if (this.bytes > MOST_WAITING) this.response.destroy();
    else this.write();
  }

  private write(): void {
    const { response, waiting } = this;
    while (!this.isBlocked && waiting[0] !== undefined && !response.writableEnded) {
      const part = waiting[0].subarray(0, PART);
      this.bytes -= part.length;
      if (part.length < waiting[0].length) waiting[0] = waiting[0].subarray(PART);
      else waiting.shift();
      this.isBlocked = !response.write(part);
    }
  }
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { ...headers(), 'content-type': 'text/event-stream' }).flushHeaders();
}

const eventText = (name: EventName, data: unknown): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** Says why there are no events. A status would keep the sentence from the page: browsers do not tell a page what else came with it. */
export function refuseEvents(response: ServerResponse, sentence: string): void {
  if (!response.headersSent) begin(response);
  response.end(eventText('refused', sentence));
}
