/** How far a replay is: one line on a terminal that is overwritten. */

/** Progress is shown after this time, and then this often. */
const SILENT_MS = 2_000;
const UPDATE_MS = 500;

export class Progress {
  private next = Date.now() + SILENT_MS;
  private shown = false;

  constructor(
    private readonly jobs: number,
    private readonly label: string,
  ) {}

  show(started: number): void {
    if (!process.stderr.isTTY || Date.now() < this.next) return;
    this.next = Date.now() + UPDATE_MS;
    this.shown = true;
    process.stderr.write(`\r${this.label}: ${started} of ${this.jobs} jobs have started`);
  }

  end(): void {
    if (this.shown) process.stderr.write('\r\x1b[K');
  }
}
