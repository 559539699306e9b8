/** The page in a real browser: what people and screen readers see, in light and dark, narrow and wide, with keyboard alone. */
import { readFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { type DashboardServer, serveDashboard } from '../../runtime/dashboard/server';
import { hasBrowser, launchBrowser } from './browser';
import { NOW } from './sample';
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

  beforeAll(async () => {
    browser = await launchBrowser();
    view = atWork({ jobs: 200, nodes: 12 });
    server = await serveDashboard({ port: 0, view });
  }, 60_000);
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
    view.tell({ jobs: [{ ...first, name: 'job/renamed' }], goneJobs: ['science/job-train-0'] });
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

  test('says that the connection is lost', async () => {
    const own = await serveDashboard({ port: 0, view });
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(own.url);
    await page.getByText('Live').waitFor();
    await own.stop();
    await page.getByText('The connection is lost').waitFor();
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
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      await page.addScriptTag({ content: AXE });
      const violations = async () =>
        (await page.evaluate('axe.run().then(({ violations }) => violations)')) as Violation[];
      const found = (await violations()).map(({ id, nodes }) => [id, nodes[0]?.html]);
      expect(found).toEqual([]);
      await page.getByRole('button', { name: 'job/sweep-3', exact: true }).first().click();
      expect((await violations()).map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
      const folder = process.env.SCREENSHOTS;
      if (folder !== undefined) {
        await page.keyboard.press('Escape');
        await page.screenshot({ path: `${folder}/dashboard-${width}-${colorScheme}.png`, fullPage: true });
      }
      await page.context().close();
    },
    60_000,
  );
});
