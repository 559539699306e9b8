/** The read API on a simulated cluster with one controller. */
import { type ConfigInput, parseConfig } from '../../../runtime/config';
import { createLogger } from '../../../runtime/observability/log';
import type { Queue } from '../../../runtime/queue/store';
import { readResources } from '../../../runtime/reader/answers/index';
import type { ReadRequest } from '../../../runtime/reader/resource';
import { observedClient } from '../../fuzz/observed-client';
import type { QueueModel } from '../../fuzz/queue-model';
import { Random } from '../../fuzz/random';
import { SimulatedController } from '../../fuzz/simulated-controller';

/** What the tests ask of Kubernetes and of the database, as text. */
export type Opened = string;

export class SimulatedReader {
  readonly controller = new SimulatedController();
  readonly opened: Opened[] = [];
  /** What the database answers instead. */
  databaseError: Error | undefined;
  apiserverIsDown = false;
  /** What has ended, which the model of the tables does not keep. */
  traced: Queue['traced'] = async () => [];
  private readonly answers;

  constructor(config: ConfigInput = {}) {
    const { controller } = this;
    const { apiserver, clock } = controller;
    this.answers = readResources({
      config: parseConfig(config),
      client: observedClient(apiserver.client(), {
        listed: (path) => {
          this.opened.push(path);
          if (this.apiserverIsDown) throw new Error('down');
        },
        closed: (path) => this.opened.push(`closed ${path}`),
      }),
      queue: async () => {
        this.opened.push('database');
        if (this.databaseError !== undefined) throw this.databaseError;
        // What the model of the tables lacks.
        return Object.assign(Object.create(controller.queue) as QueueModel, {
          estimateError: async () => undefined,
          traced: this.traced,
        });
      },
      logger: createLogger('reader', 'silent'),
      time: { clock, wall: () => this.controller.now(), random: new Random(3).next },
    });
  }

  /** A request as the server makes it. */
  request(over: Partial<ReadRequest> = {}): ReadRequest {
    return {
      reader: { username: 'ada', groups: [], extra: {} },
      query: new URLSearchParams(),
      signal: new AbortController().signal,
      ...over,
    };
  }

  /** Asks without letting time pass. */
  begin<T>(resource: string, over: Partial<ReadRequest> = {}): Promise<T> {
    const found = this.answers.resources.find(({ name }) => name === resource);
    return found!.answer(this.request(over)) as Promise<T>;
  }

  /** The answer, as a caller reads it from JSON. */
  async ask<T>(resource: string, over: Partial<ReadRequest> = {}): Promise<T> {
    const answer = await this.controller.clock.until(this.begin<T>(resource, over));
    return JSON.parse(JSON.stringify(answer)) as T;
  }

  stop(): Promise<void> {
    return this.answers.stop();
  }

  async close(): Promise<void> {
    await this.stop();
    await this.controller.close();
  }
}
