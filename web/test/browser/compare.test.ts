// The page of a report with two sections, as the Rust code writes it, opened from disk in a real browser.

import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launch, open, run, scratch } from './browser';

const files = scratch();
const result = files.path('compare.html');
let browser: Browser;
let page: Page;
let problems: string[];

beforeAll(async () => {
  run('cargo', ['run', '--quiet', '-p', 'tcplab-report', '--example', 'sample_compare', '--', result]);
  browser = await launch();
}, 600_000);

afterAll(async () => {
  await browser?.close();
  files.remove();
});

describe('a report', () => {
  beforeEach(async () => {
    ({ page, problems } = await open(browser, result));
  });

  afterEach(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });

  it('begins with the verdicts of its sections, and why one was not run', async () => {
    expect(await page.locator('.top .file').textContent()).toBe('uml:6.1 → uml:6.1+x: worse');
    expect(await page.locator('table.sections tbody tr').allTextContents()).toEqual([
      'Benchmarksworse1 undecided, 1 worse',
      'Scriptsnot runnone were named',
    ]);
    await page.locator('table.sections a').last().click();
    expect(page.url()).toContain('#s1');
    expect(await page.locator('#s1 + p').textContent()).toBe('Not run: none were named');
  });

  it('has a row for each metric, with text that stays text', async () => {
    const rows = page.locator('table.metrics tbody tr');
    expect(await rows.count()).toBe(2);
    const cells = await rows.first().locator('td').allTextContents();
    expect(cells.slice(0, 4)).toEqual(['TCP_STREAM <b>rate</b>', 'bit/s ↑', '1.001G', '901M']);
    expect(cells.at(-1)).toBe('worse');
  });

  it('draws a dot for each run, marks stolen time, and has the change on a scale with the band', async () => {
    const row = page.locator('table.metrics tbody tr').first();
    expect(await row.locator('svg.runs circle.before').count()).toBe(5);
    expect(await row.locator('svg.runs circle.after.stolen').count()).toBe(5);
    expect(await row.locator('svg.runs circle.after title').first().textContent()).toBe(
      '900000000; steal 7.0 %',
    );
    expect(await row.locator('svg.change .whisker.worse').count()).toBe(1);
    const [zero, point] = await Promise.all(
      ['.zero', '.point'].map((mark) => row.locator(`svg.change ${mark}`).boundingBox()),
    );
    expect(point?.x).toBeLessThan(zero?.x ?? 0);
  });

  it('is as wide as a narrow screen, and changes its theme by a key', async () => {
    await page.setViewportSize({ width: 480, height: 800 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(480);
    await page.keyboard.press('t');
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
  });
});
