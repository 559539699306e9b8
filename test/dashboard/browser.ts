/** A real Chromium, if the machine has one: CHROMIUM names it, else Debian's is taken. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Says in one line that the tests in the browser are skipped, if they are. */
export function hasBrowser(): boolean {
  if (existsSync(executablePath)) return true;
  process.stderr.write(
    `skipped: the dashboard in a browser (no ${executablePath}; apt-get install chromium, or set CHROMIUM)\n`,
  );
  return false;
}

export function launchBrowser(): Promise<Browser> {
  // Inside containers there is no user namespace for Chromium's own sandbox; it opens pages of this repository alone.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}
