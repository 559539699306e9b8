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

const source = new EventSource('events');
const read = (event: MessageEvent<string>) => JSON.parse(event.data) as Changes;
source.addEventListener('all', (event) => set(changed(state, read(event), true)));
source.addEventListener('changes', (event) => set(changed(state, read(event), false)));
source.addEventListener('error', () => set({ ...state, connection: 'lost' }));
document.querySelector('noscript')?.remove();
draw();
// A running bar grows, and ages pass.
setInterval(() => set({ ...state }), 10_000);
