import { freePorts } from '../cluster/ports';
import type { StackOptions } from './stack';

/** The options of a stack whose admission is the webhook, which is started with it at a free port. */
export const withWebhook = (options: StackOptions) => async (): Promise<StackOptions> => {
  const [webhookPort = 0] = await freePorts(1);
  const externalRuntime = { webhookUrl: `https://127.0.0.1:${webhookPort}` };
  return { ...options, props: { ...options.props, admission: 'webhook', externalRuntime }, webhookPort };
};
