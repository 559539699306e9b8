/** One live view for any number of readers: opened for the first of them, and closed a minute after the last one has left. */
import type { Clock } from '../clock';
import type { LiveView } from './live-view';
import type { Changes } from './messages';
import { NamespaceView } from './namespace-view';

type View = Pick<LiveView, 'start' | 'stop' | 'listen'>;

export interface SharedViewOptions {
  /** Makes a view of all namespaces. */
  readonly create: () => View;
  readonly clock: Clock;
}

/** Milliseconds for which the view stays open without readers: a page that is loaded again finds it. */
const IDLE_MS = 60_000;

export class SharedView {
  private opened: { readonly view: View; readonly started: Promise<void> } | undefined;
  private readonly scopes = new Map<string, NamespaceView>();
  private readers = 0;
  private cancelClose: (() => void) | undefined;
  private isStopped = false;

  constructor(private readonly options: SharedViewOptions) {}

  /**
   * Tells all that the reader may see, and then each change, until the signal is aborted.
   * @param namespace the only one that the reader sees; undefined: all, and all nodes
   * @throws FluxqError if the apiserver does not answer
   */
  async listen(
    namespace: string | undefined,
    listener: (changes: Changes) => void,
    signal: AbortSignal,
  ): Promise<void> {
    this.cancelClose?.();
    this.cancelClose = undefined;
    this.readers += 1;
    signal.addEventListener('abort', () => this.leave(), { once: true });
    const view = await this.open();
    if (signal.aborted) return;
    const end = namespace === undefined ? view.listen(listener) : this.inNamespace(view, namespace, listener);
    signal.addEventListener('abort', end, { once: true });
  }

  stop(): void {
    this.isStopped = true;
    this.close();
  }

  private close(): void {
    this.cancelClose?.();
    this.cancelClose = undefined;
    this.opened?.view.stop();
    this.opened = undefined;
    this.scopes.clear();
  }

  private async open(): Promise<View> {
    if (this.opened === undefined) {
      const view = this.options.create();
      this.opened = { view, started: view.start() };
    }
    const { opened } = this;
    try {
      await opened.started;
    } catch (error) {
      // The next reader tries again.
      if (this.opened === opened) this.close();
      throw error;
    }
    return opened.view;
  }

  private inNamespace(view: View, namespace: string, listener: (changes: Changes) => void): () => void {
    const scope = this.scopes.get(namespace) ?? new NamespaceView(view, namespace);
    this.scopes.set(namespace, scope);
    const end = scope.listen(listener);
    return () => {
      end();
      if (!scope.isIdle) return;
      scope.stop();
      if (this.scopes.get(namespace) === scope) this.scopes.delete(namespace);
    };
  }

  private leave(): void {
    this.readers -= 1;
    if (this.readers === 0 && !this.isStopped)
      this.cancelClose = this.options.clock.after(IDLE_MS, () => this.close());
  }
}
