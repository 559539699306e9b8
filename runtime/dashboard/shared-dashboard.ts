/**
 * The dashboard for many readers, behind the apiserver: the role `reader` gives it requests that are authenticated and authorized, with the
 * namespace for which they are. A reader never sees more than that namespace, whatever the page asks for.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, systemClock } from '../clock';
import type { KubernetesClient } from '../kubernetes/client';
import type { Logger } from '../observability/log';
import { EventWriter, type PageEvents, refuseEvents } from './events';
import { LiveView, sentenceOf } from './live-view';
import type { Answer, HistoryView, UsageView } from './messages';
import { answerPage, type PageSource, refuse, sendForward } from './page-server';
import { monthQuery } from './read-api';
import { SharedView } from './shared-view';

/** Answers of the read API, as the role makes them. */
export interface ReaderAnswers<R> {
  readonly history: (namespace: string, name: string, reader: R) => Promise<HistoryView>;
  /** @param query of `list usages` */
  readonly usage: (namespace: string | undefined, query: URLSearchParams, reader: R) => Promise<UsageView>;
}

export interface SharedDashboardOptions<R> {
  /** Its account may list and watch FluxJobs of all namespaces, and nodes. */
  readonly client: KubernetesClient;
  readonly answers: ReaderAnswers<R>;
  readonly logger: Pick<Logger, 'debug' | 'info' | 'warn'>;
  readonly clock?: Clock;
  /** Pages that can be open at the same time. @default 200 */
  readonly mostPages?: number;
}

/** A request with what the apiserver has checked. */
export interface Given<R> {
  readonly reader: R;
  /** @default - all namespaces */
  readonly namespace?: string;
  readonly name: string;
  /** What follows `proxy`. */
  readonly path: string;
}

/** The only dashboard: `dashboards/queue`. */
const NAME = 'queue';

/** Milliseconds after which a page must connect again, so that a right that was taken away ends. As long as a watch. */
const SESSION_MS = 300_000;

export class SharedDashboard<R> {
  private readonly view: SharedView;
  private readonly writer = new EventWriter();
  private readonly clock: Clock;
  private readonly pages = new Set<PageEvents>();
  private isStopped = false;

  constructor(private readonly options: SharedDashboardOptions<R>) {
    const { client, logger, clock = systemClock } = options;
    this.clock = clock;
    this.view = new SharedView({ create: () => new LiveView({ client, logger, clock }), clock });
  }

  /** Answers a request to `dashboards/queue/proxy/...`. */
  readonly handle = async (
    request: IncomingMessage,
    response: ServerResponse,
    given: Given<R>,
  ): Promise<void> => {
    const path = given.path.replace(/^\//, '');
    if (given.name !== NAME) refuse(response, 404, `There is no such dashboard; its name is ${NAME}.`);
    // Addresses in the page are relative to the slash.
    else if (path === '' && !pathOf(request).endsWith('/')) sendForward(response, 'proxy/');
    else await answerPage(request, response, path, this.sourceFor(given));
  };

  /** Pages connect again, to another server of the same dashboard. */
  stop(): void {
    this.isStopped = true;
    for (const page of this.pages) page.end();
    this.view.stop();
  }

  private sourceFor({ reader, namespace }: Given<R>): PageSource {
    const { answers } = this.options;
    return {
      events: (response) => this.tell(response, namespace),
      history: async (of, name) =>
        namespace !== undefined && of !== namespace
          ? { problem: `This page shows ${namespace} alone.` }
          : this.answered(() => answers.history(of, name, reader)),
      usage: () => this.answered(() => answers.usage(namespace, monthQuery(new Date()), reader)),
    };
  }

  private async answered<T>(ask: () => Promise<T>): Promise<Answer<T>> {
    try {
      return { answer: await ask() };
    } catch (error) {
      this.options.logger.warn({ err: error }, 'a page of the dashboard has no answer');
      return { problem: sentenceOf(error) };
    }
  }

  private tell(response: ServerResponse, namespace: string | undefined): void {
    // It has left while it was asked who it is, and will not be heard of again.
    if (response.destroyed) return;
    const { mostPages = 200, logger } = this.options;
    if (this.isStopped) {
      refuse(response, 503, 'This server is stopping.');
      return;
    }
    if (this.pages.size >= mostPages) {
      refuseEvents(response, `This dashboard is open ${mostPages} times, which is the most. It tries again.`);
      return;
    }
    const page = this.writer.open(response);
    this.pages.add(page);
    const left = new AbortController();
    const cancel = this.clock.after(SESSION_MS, page.end);
    response.once('close', () => {
      this.pages.delete(page);
      cancel();
      left.abort();
    });
    this.view.listen(namespace, page.tell, left.signal).catch((error: unknown) => {
      logger.warn({ err: error }, 'the view of the dashboard cannot be opened');
      refuseEvents(response, `The queue cannot be read now: ${sentenceOf(error)} It tries again.`);
    });
  }
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?')[0]!;
