import type { App } from 'cdk8s';
import { FluxQueue } from './fluxqueue';
import type { FluxQueueProps } from './props';

/**
 * The stack as main.ts writes it to dist/: one chart per layer under the App.
 * The tests and the demo call it with props of their own.
 */
export function defaultStack(app: App, props: FluxQueueProps = {}): FluxQueue {
  return new FluxQueue(app, 'fluxqueue', props);
}
