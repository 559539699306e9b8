import type { App } from 'cdk8s';
import { FluxQueue } from './fluxqueue';
import type { FluxQueueProps } from './props';

/**
 * Adds the stack to an App as main.ts writes it to dist/: one chart per layer. Tests and the demo call it with other props.
 * @throws PropsError when a value is not valid or two props cannot be combined
 */
export function defaultStack(app: App, props: FluxQueueProps = {}): FluxQueue {
  return new FluxQueue(app, 'fluxqueue', props);
}
