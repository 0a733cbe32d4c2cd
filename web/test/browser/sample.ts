// The page of the Rust example `sample_page`, opened anew for each test of a file.

import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { launch, open, run, scratch } from './browser';

export interface Sample {
  browser: () => Browser;
  /** The page's file. */
  file: string;
  /** A file of the test, gone after it. */
  path: (name: string) => string;
  /** Clicks a stream in the table. */
  choose: (stream: number) => Promise<void>;
}

/**
 * Writes the page before the tests of the calling file and hands it over, opened, before each of them. Whatever a test
 * did: no error, and nothing was asked of the network.
 */
export function samplePage(take: (page: Page) => void): Sample {
  const files = scratch();
  const file = files.path('sample.html');
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    run('cargo', ['run', '--quiet', '-p', 'tcplab-report', '--example', 'sample_page', '--', file]);
    browser = await launch();
  }, 300_000);

  afterAll(async () => {
    await browser?.close();
    files.remove();
  });

  beforeEach(async () => {
    ({ page, problems } = await open(browser, file));
    take(page);
  });

  afterEach(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });

  return {
    browser: () => browser,
    file,
    path: files.path,
    choose: (stream) => page.locator(`tr[data-stream="${stream}"]`).click(),
  };
}
