/**
 * `npm run -s bench:dashboard -- [--json] [--jobs 10000] [--nodes 1000]`: how long the dashboard takes in a real Chromium, from the key or the
 * message until the next picture is drawn. Needs Chromium; progress goes to stderr.
 */
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { serveDashboard } from '../../runtime/dashboard/server';
import { StaticAnswers } from '../dashboard/answers';
import { hasBrowser, launchBrowser } from '../dashboard/browser';
import { atWork, type StaticView } from '../dashboard/static-view';
import { quantile } from './statistics';

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '10000' },
    nodes: { type: 'string', default: '1000' },
    times: { type: 'string', default: '30' },
  },
});

/** Milliseconds from the call of `act` in the page until two pictures later, which is when its change is on the screen. */
const timed = (act: string): string => `new Promise((resolve) => {
  const before = performance.now();
  ${act};
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - before)));
})`;

const typed = (text: string): string =>
  `const input = document.querySelector('input[type=search]');
   input.value = ${JSON.stringify(text)};
   input.dispatchEvent(new Event('input', { bubbles: true }))`;

async function repeat(page: Page, acts: (i: number) => string): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < Number(options.times); i++) times.push(Number(await page.evaluate(timed(acts(i)))));
  return times;
}

/** Milliseconds from the message of the server until the page shows it. */
async function changes(page: Page, view: StaticView): Promise<number[]> {
  const times: number[] = [];
  const job = view.jobs.at(-1)!;
  for (let i = 0; i < Number(options.times); i++) {
    const name = `job/changed-${i}`;
    const before = performance.now();
    view.tell({ jobs: [{ ...job, name, phase: 'Running' }] });
    await page.locator('#queue tbody').getByText(name, { exact: true }).waitFor();
    times.push(performance.now() - before);
  }
  return times;
}

async function main(): Promise<void> {
  if (!hasBrowser()) throw new Error('there is no Chromium');
  const view = atWork({ jobs: Number(options.jobs), nodes: Number(options.nodes) });
  const server = await serveDashboard({ port: 0, view, answers: new StaticAnswers() });
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    const before = performance.now();
    await page.goto(server.url);
    await page
      .locator('.tile')
      .nth(Number(options.nodes) - 1)
      .waitFor({ state: 'attached' });
    const openMs = performance.now() - before;
    const typing = await repeat(page, (i) => typed(`sweep-${i}`));
    const opening = await repeat(page, (i) =>
      i % 2 === 0
        ? "document.querySelector('#queue tbody button').click()"
        : "document.querySelector('dialog').close()",
    );
    await page.evaluate(timed(typed('')));
    const shown = await changes(page, view);
    const figure = (times: number[], share: number) => Math.round(quantile(times, share));
    const figures = {
      jobs: view.jobs.length,
      nodes: view.nodes.length,
      openMs: Math.round(openMs),
      typingP50Ms: figure(typing, 0.5),
      typingP99Ms: figure(typing, 0.99),
      dialogP50Ms: figure(opening, 0.5),
      dialogP99Ms: figure(opening, 0.99),
      changeP50Ms: figure(shown, 0.5),
      changeP99Ms: figure(shown, 0.99),
    };
    process.stdout.write(
      `${options.json ? JSON.stringify(figures) : JSON.stringify(figures, undefined, 2)}\n`,
    );
  } finally {
    await browser.close();
    await server.stop();
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  },
);
