/** The page: subscribes to the server and draws what it knows. */
import { render } from 'preact';
import type { Changes } from '../messages';
import { html } from './html';
import { Page } from './page';
import { changed, EMPTY, type State } from './state';

let state = EMPTY;
let isDrawn = true;

function set(next: State): void {
  state = next;
  if (!isDrawn) return;
  isDrawn = false;
  requestAnimationFrame(draw);
}

function draw(): void {
  isDrawn = true;
  render(html`<${Page} state=${state} />`, document.body);
}

/** Milliseconds until the next attempt. After a refusal it is a long one, at a random time: many pages may have been refused. */
const RETRY = 5_000;
const refusedRetry = () => 20_000 + 20_000 * Math.random();

/**
 * A browser connects again by itself only if the connection breaks, not if a proxy answers with a status meanwhile. So each attempt is a
 * source of its own.
 */
function connect(): void {
  const source = new EventSource('events');
  const read = (event: MessageEvent<string>) => JSON.parse(event.data) as Changes;
  const connectIn = (milliseconds: number) => {
    source.close();
    setTimeout(connect, milliseconds);
  };
  source.addEventListener('all', (event) => set(changed(state, read(event), true)));
  source.addEventListener('changes', (event) => set(changed(state, read(event), false)));
  source.addEventListener('again', () => connectIn(0));
  source.addEventListener('refused', (event) => {
    set({ ...state, connection: { refused: JSON.parse((event as MessageEvent<string>).data) as string } });
    connectIn(refusedRetry());
  });
  source.addEventListener('error', () => {
    set({ ...state, connection: 'lost' });
    connectIn(RETRY);
  });
}

connect();
document.querySelector('noscript')?.remove();
draw();
// A running bar grows, and ages pass.
setInterval(() => set({ ...state }), 10_000);
