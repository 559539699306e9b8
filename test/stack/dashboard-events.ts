/** What a dashboard tells its page. */
import type { Changes } from '../../runtime/dashboard/messages';

/**
 * Reads messages until one of them passes.
 * @param url of the page, with its slash
 * @param begun called when the first message has come: what happens from then on is told as a change
 */
export async function follow(
  url: string,
  passes: (changes: Changes) => boolean,
  begun: () => void = () => undefined,
): Promise<readonly Changes[]> {
  const messages: Changes[] = [];
  const { body } = await fetch(`${url}events`);
  let text = '';
  for await (const part of body!.pipeThrough(new TextDecoderStream())) {
    text += part;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      messages.push(JSON.parse(text.slice(text.indexOf('data: ') + 6, end)) as Changes);
      text = text.slice(end + 2);
      begun();
      if (passes(messages.at(-1)!)) return messages;
    }
  }
  throw new Error(`the messages ended: ${JSON.stringify(messages)}`);
}
