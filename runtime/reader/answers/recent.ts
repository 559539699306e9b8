/** Work that is done when somebody asks, at most once in some time: whoever asks meanwhile shares the result. */
import type { Clock } from '../../clock';

export class Recent<T> {
  private latest: Promise<T> | undefined;
  private pending = false;
  private doneAt = 0;

  /** @param milliseconds for which a result counts as present */
  constructor(
    private readonly clock: Clock,
    private readonly milliseconds: number,
    private readonly make: () => Promise<T>,
  ) {}

  get(): Promise<T> {
    const { latest, clock, pending } = this;
    if (latest !== undefined && (pending || clock.now() - this.doneAt < this.milliseconds)) return latest;
    this.pending = true;
    const made = this.make();
    this.latest = made;
    made.then(
      () => this.done(),
      () => {
        this.latest = undefined;
        this.done();
      },
    );
    return made;
  }

  private done(): void {
    this.pending = false;
    this.doneAt = this.clock.now();
  }
}
