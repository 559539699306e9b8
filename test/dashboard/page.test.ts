/** The page in a real browser: what people and screen readers see, in light and dark, narrow and wide, with keyboard alone. */
import { readFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { type DashboardServer, serveDashboard } from '../../runtime/dashboard/server';
import { HISTORY, StaticAnswers, USAGE } from './answers';
import { hasBrowser, launchBrowser } from './browser';
import { at, NOW } from './sample';
import { atWork, type StaticView } from './static-view';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

(hasBrowser() ? describe : describe.skip)('the dashboard in a browser', () => {
  let browser: Browser;
  let server: DashboardServer;
  let view: StaticView;
  let answers: StaticAnswers;

  beforeAll(async () => {
    browser = await launchBrowser();
    view = atWork({ jobs: 200, nodes: 12 });
    answers = new StaticAnswers();
    server = await serveDashboard({ port: 0, view, answers });
  });
  beforeEach(() => {
    answers.answers = { history: { answer: HISTORY }, usage: { answer: USAGE } };
    answers.asked.length = 0;
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  async function open(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ timezoneId: 'UTC', locale: 'en-GB', ...options });
    const page = await context.newPage();
    await page.clock.setFixedTime(NOW);
    await page.goto(server.url);
    await page.getByRole('status').getByText('Live').waitFor();
    return page;
  }

  const names = (page: Page) => page.locator('#queue tbody th').allTextContents();

  test('shows what runs first, then the line, and changes by itself', async () => {
    const page = await open();
    expect((await names(page)).slice(0, 3)).toEqual(['job/train-0', 'job/train-3', 'job/train-1']);
    expect(await page.getByText('6 jobs run, 200 wait').count()).toBe(1);
    const first = view.jobs.find(({ name }) => name === 'job/sweep-0')!;
    view.tell({ jobs: [{ ...first, name: 'job/renamed' }], goneJobs: ['science/train-0-job'] });
    await page.getByRole('button', { name: 'job/renamed' }).first().waitFor();
    expect(await names(page)).not.toContain('job/train-0');
    await page.context().close();
  });

  test('finds jobs by words, queue and phase', async () => {
    const page = await open();
    await page.getByRole('searchbox', { name: 'Find' }).fill('sweep-19 busy');
    await page.getByText('11 jobs', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Queue' }).selectOption('gpu');
    await page.getByText('5 jobs', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Show' }).selectOption('running');
    await page.getByText('0 jobs', { exact: true }).waitFor();
    await page.context().close();
  });

  test('twenty-five rows are drawn, and more if one asks', async () => {
    const page = await open();
    expect(await names(page)).toHaveLength(25);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.locator('#queue tbody tr').nth(205).waitFor();
    await page.context().close();
  });

  test('opens a job with the keyboard, closes it with Escape, and the focus is back', async () => {
    const page = await open();
    const name = page.getByRole('button', { name: 'job/sweep-3', exact: true }).first();
    await name.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'science/job/sweep-3' });
    await dialog.waitFor();
    expect(await dialog.textContent()).toContain('Busy: needs 1 pod with 8 cores; not free now');
    expect(page.url()).toContain('#job=');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent')).toBe('job/sweep-3');
    await page.context().close();
  });

  test('nodes show what is held of them, and their state in words', async () => {
    const page = await open();
    const tiles = page.locator('.tile');
    expect(await tiles.count()).toBe(12);
    expect(await tiles.nth(1).textContent()).toContain('3 of 7.8 cores');
    expect(await tiles.nth(10).textContent()).toContain('drained');
    expect(await tiles.nth(11).textContent()).toContain('down');
    await tiles.nth(1).getByRole('button', { name: 'science/job/train-1: 3 cores of node1' }).click();
    await page.getByRole('dialog', { name: 'science/job/train-1' }).waitFor();
    await page.context().close();
  });

  const openJob = async (page: Page, name: string) => {
    await page.getByRole('button', { name, exact: true }).first().click();
    return page.getByRole('dialog', { name: `science/${name}` });
  };

  test('a job has its history, and that of jobs that had its name before', async () => {
    const page = await open();
    const dialog = await openJob(page, 'job/sweep-3');
    const events = dialog.getByRole('list').first().getByRole('listitem');
    await events.nth(3).waitFor();
    expect(await events.first().textContent()).toMatch(/11:30:00\s*Submitted by ada\s*1 pod with 3 cores/);
    expect(await events.last().textContent()).toContain('Running by fluxqueue-controller-0');
    const earlier = dialog.getByText('2 events of jobs that had this name before');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe(await earlier.textContent());
    await page.keyboard.press('Enter');
    await dialog.getByText('21 Nov 2026, 10:00:00').waitFor();
    expect(answers.asked).toContain('science/sweep-3');
    await page.context().close();
  });

  test('the history follows the job while it is open', async () => {
    const page = await open();
    const dialog = await openJob(page, 'job/sweep-6');
    await dialog.getByText('Running by').waitFor();
    const ended = { ...HISTORY.entries[3]!, event: 'Cancelled', message: 'by its user' };
    answers.answers.history = { answer: { entries: [...HISTORY.entries, ended] } };
    const job = view.jobs.find(({ name }) => name === 'job/sweep-6')!;
    view.tell({ jobs: [{ ...job, phase: 'Finished', result: 'Cancelled' }] });
    await dialog.getByText('Cancelled by').waitFor();
    expect(answers.asked.filter((asked) => asked === 'science/sweep-6')).toHaveLength(2);
    await page.context().close();
  });

  test('the history of a job that is gone is at its address still', async () => {
    const page = await open();
    await page.goto(`${server.url}#job=science%2Fgone-job`);
    const dialog = page.getByRole('dialog', { name: 'science/gone-job' });
    await dialog.getByText('There is no such job, or no longer.').waitFor();
    await dialog.getByText('Submitted by ada').first().waitFor();
    expect(answers.asked).toContain('science/gone');
    await page.context().close();
  });

  test('says that it reads the history, why it may not, and reads it again', async () => {
    const page = await open();
    const given = Promise.withResolvers<void>();
    await page.route('**/histories/**', async (route) => {
      await given.promise;
      await route.continue();
    });
    answers.answers.history = { problem: 'You may not read histories in science.' };
    const dialog = await openJob(page, 'job/sweep-3');
    const status = dialog.getByRole('status');
    await status.getByText('Reading the history …').waitFor();
    given.resolve();
    await status.getByText('You may not read histories in science.').waitFor();
    expect(await dialog.textContent()).toContain('not free now');
    answers.answers.history = { answer: { entries: [] } };
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByText('No event is recorded.').waitFor();
    expect(await status.textContent()).toBe('');
    await page.context().close();
  });

  test('usage has what is held now and the hours of this month, and queues their fair shares', async () => {
    const page = await open();
    const rows = (name: string) => page.getByRole('region', { name }).getByRole('row').allTextContents();
    await page.getByRole('columnheader', { name: 'November 2026' }).first().waitFor();
    const [, titles, first] = await rows('Usage by queue');
    expect(titles).toMatch(/^Queue.*Core hours.*GPU hours$/s);
    expect(first).toMatch(/^default2672\d+5095,013\.820,055\.00\.0$/);
    expect((await rows('Usage by user')).at(-1)).toMatch(/^not recorded/);
    expect((await rows('Fair shares'))[1]).toMatch(/default\s*all\s*3\s*81%\s*0\.473/);
    await page.context().close();
  });

  test('usage is read every minute while the page is seen', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(server.url);
    await page.getByRole('columnheader', { name: 'November 2026' }).first().waitFor();
    const asked = () => answers.asked.length;
    expect(asked()).toBe(1);
    const hidden = (state: string) =>
      page.evaluate(
        `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })`,
      );
    await hidden('hidden');
    await page.clock.runFor(300_000);
    expect(asked()).toBe(1);
    await hidden('visible');
    const again = page.waitForResponse('**/usages');
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await again;
    const later = page.waitForResponse('**/usages');
    await page.clock.runFor(66_000);
    await later;
    expect(asked()).toBe(3);
    await context.close();
  });

  test('without a read API the page says so, and shows what is held now', async () => {
    answers.answers.usage = { problem: 'FLUXQ_READ_API_MISSING: this cluster has no read API of the queue.' };
    const own = await serveDashboard({ port: 0, view, answers });
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(own.url);
    await page.locator('#usage').getByText('this cluster has no read API').waitFor();
    const region = page.getByRole('region', { name: 'Usage by queue' });
    expect(await region.getByRole('columnheader').allTextContents()).toEqual([
      'Queue',
      'Running',
      'Waiting',
      'Nodes',
      'Cores',
    ]);
    expect(await page.getByText('Fair shares').count()).toBe(0);
    await context.close();
    await own.stop();
  });

  test('says that the server hears nothing, and since when, instead of "Live"', async () => {
    const page = await open();
    view.tell({ trouble: { message: 'The queue cannot be read now: no route.', since: at(-5) } });
    await page
      .getByRole('status')
      .getByText(
        'The queue cannot be read now: no route. It tries again. What you see may have changed since 11:55:00.',
        { exact: true },
      )
      .waitFor();
    expect(await page.getByText('Live', { exact: true }).count()).toBe(0);
    view.tell({});
    await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
    await page.context().close();
  });

  test('says that the connection is lost', async () => {
    const own = await serveDashboard({ port: 0, view, answers });
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(own.url);
    await page.getByText('Live').waitFor();
    await own.stop();
    await page.getByText('The connection is lost').waitFor();
    await context.close();
  });

  test.each([
    ['a status of a proxy', { status: 502, body: 'Bad Gateway' }, 'The connection is lost', 5_000],
    ['a refusal', { body: 'event: refused\ndata: "It is full."\n\n' }, 'It is full.', 40_000],
    ['the end of a session', { body: 'event: again\ndata: ""\n\n' }, undefined, 0],
  ])('connects again after %s', async (_, answer, sentence, milliseconds) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.clock.install();
    const headers = { 'content-type': 'text/event-stream' };
    await page.route('**/events', (route) => route.fulfill({ headers, ...answer }), { times: 1 });
    await page.goto(server.url);
    if (sentence !== undefined) await page.getByRole('status').getByText(sentence).waitFor();
    await page.clock.runFor(milliseconds);
    await page.getByRole('status').getByText('Live').waitFor();
    await context.close();
  });

  test('loads nothing from elsewhere and breaks no rule of its own policy', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const requests: string[] = [];
    const problems: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.goto(server.url);
    await page.getByText('Live').waitFor();
    expect(requests.filter((url) => !url.startsWith(server.url) && !url.endsWith('/favicon.ico'))).toEqual(
      [],
    );
    expect(problems.filter((problem) => !problem.includes('favicon'))).toEqual([]);
    await context.close();
  });

  const sizes = [375, 1280, 2560];
  const schemes = ['light', 'dark'] as const;
  test.each(sizes.flatMap((width) => schemes.map((colorScheme) => [width, colorScheme] as const)))(
    'at %d pixels, %s: no violation that axe finds, and nothing wider than the window',
    async (width, colorScheme) => {
      // axe is put into the page, which its policy forbids to others.
      const page = await open({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
      await page.getByRole('region', { name: 'Fair shares' }).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      await page.addScriptTag({ content: AXE });
      const violations = async () =>
        (await page.evaluate('axe.run().then(({ violations }) => violations)')) as Violation[];
      const found = (await violations()).map(({ id, nodes }) => [id, nodes[0]?.html]);
      expect(found).toEqual([]);
      const dialog = await openJob(page, 'job/train-1');
      await dialog.getByText('Running by').waitFor();
      await dialog.getByText('2 events of jobs').click();
      expect((await violations()).map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
      const folder = process.env.SCREENSHOTS;
      if (folder !== undefined) {
        await page.screenshot({ path: `${folder}/dashboard-job-${width}-${colorScheme}.png` });
        await page.keyboard.press('Escape');
        await page.screenshot({ path: `${folder}/dashboard-${width}-${colorScheme}.png`, fullPage: true });
      }
      await page.context().close();
    },
  );
});
