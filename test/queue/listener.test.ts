import { EventEmitter } from 'node:events';
import type { Pool } from 'pg';
import { Listener } from '../../runtime/queue/listener';
import { ManualClock, settle } from '../kubernetes/manual-clock';

/** A connection that says nothing more once it is cut, as one that a firewall has forgotten. */
class FakeConnection extends EventEmitter {
  readonly asked: string[] = [];
  isCut = false;
  private giveUp: (error: Error) => void = () => undefined;

  query(text: string): Promise<void> {
    this.asked.push(text);
    return this.isCut
      ? new Promise((_, reject) => {
          this.giveUp = reject;
        })
      : Promise.resolve();
  }

  /** The driver waits for an answer no longer. */
  timeOut(): void {
    this.giveUp(new Error('Query read timeout'));
  }

  release(): void {
    this.removeAllListeners();
  }
}

test('a connection on which nobody hears anything any more is replaced', async () => {
  const connections: FakeConnection[] = [];
  const connect = async () => {
    const connection = new FakeConnection();
    connections.push(connection);
    return connection;
  };
  const clock = new ManualClock();
  const broken: string[] = [];
  let told = 0;
  const listener = new Listener({
    pool: { connect } as unknown as Pool,
    channel: 'asked',
    onNotification: () => {
      told += 1;
    },
    onBroken: ({ message }) => broken.push(message),
    clock,
  });
  await listener.ready;
  await clock.advance(60_000);
  expect(connections.map(({ asked }) => asked)).toEqual([['LISTEN asked', 'SELECT 1', 'SELECT 1']]);
  connections[0]!.isCut = true;
  await clock.advance(30_000);
  connections[0]!.timeOut();
  await settle();
  expect(broken).toEqual(['Query read timeout']);
  await clock.advance(1_000);
  // What was sent meanwhile is lost, so it counts as told.
  expect([connections.length, told]).toEqual([2, 1]);
  await listener.stop();
  expect(clock.next).toBeUndefined();
});
