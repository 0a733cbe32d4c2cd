// The pages of populations, as the Rust code writes them, opened from disk in a real browser.

import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { binary, launch, open, range, root, run, scratch } from './browser';

const files = scratch();
const result = files.path('result.html');
const drawn = files.path('distributions.html');
const varied = files.path('variants.html');
let browser: Browser;
let page: Page;
let problems: string[];

beforeAll(async () => {
  run('cargo', [
    'run',
    '--quiet',
    '-p',
    'tcplab-report',
    '--example',
    'sample_population',
    '--',
    result,
    drawn,
    varied,
  ]);
  browser = await launch();
}, 600_000);

afterAll(async () => {
  await browser?.close();
  files.remove();
});

const over = () =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

describe('the page of variants', () => {
  beforeEach(async () => {
    ({ page, problems } = await open(browser, varied));
  });

  afterEach(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });

  it('shows every row from variant to variant, and the result of the chosen one', async () => {
    const effects = page.locator('table.differences').first();
    expect(await effects.locator('caption').textContent()).toBe('D in per cent of B, by variant');
    expect(await effects.locator('thead th').allTextContents()).toEqual(['quantity', 'as-it-is', 'calm']);
    const first = await effects.locator('tbody tr').first().textContent();
    expect(first).toContain('+43 %');
    expect(first).toContain('−7');
    const own = page.locator('table.differences').nth(2);
    expect(await own.locator('tbody tr').first().textContent()).toContain('+43 %');
    expect(await page.locator('.outliers button').count()).toBe(1);
    await page.locator('.variants button', { hasText: 'calm' }).click();
    expect(await page.locator('.variants button[aria-pressed="true"]').textContent()).toBe('calm');
    expect(await own.locator('tbody tr').first().textContent()).not.toContain('+43 %');
    expect(await page.locator('.outliers button').count()).toBe(0);
    await page.locator('.variants button', { hasText: 'as-it-is' }).click();
    expect(await own.locator('tbody tr').first().textContent()).toContain('+43 %');
    expect(await over()).toBeLessThanOrEqual(0);
  });
});

describe('the page of a result', () => {
  beforeEach(async () => {
    ({ page, problems } = await open(browser, result));
  });

  afterEach(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });

  it('has the table with verdicts as words, and says why a value is missing', async () => {
    const table = page.locator('table.differences');
    const first = table.locator('tbody tr').first();
    expect(await first.textContent()).toContain('+43 %');
    expect(await first.locator('abbr').evaluateAll((a) => a.map((x) => x.getAttribute('title')))).toEqual([
      'higher',
      'lower',
    ]);
    expect(await page.locator('main').textContent()).toContain(
      '–: TCPAbortOnTimeout: the baseline has none of it',
    );
    expect(await page.locator('main').textContent()).toContain('about 250,000 connections more');
    expect(await page.locator('table.arms tbody tr').count()).toBe(3);
  });

  it('shows names from outside as text', async () => {
    expect(await page.locator('main h2').first().textContent()).toContain('<b>without</b>');
    expect(await page.locator('main h2 b').count()).toBe(0);
  });

  it('draws the forest plot in its order: lower left of zero, higher right of it', async () => {
    const centre = async (row: string, arm: string) => {
      const mark = page.locator(`.estimate[data-row="${row}"][data-arm="${arm}"] .mark`);
      const box = await mark.boundingBox();
      return (box?.x ?? 0) + (box?.width ?? 0) / 2;
    };
    const zero = (await page.locator('.forest .zero').boundingBox())?.x ?? 0;
    expect(await centre('timeouts', 'R')).toBeLessThan(zero - 20);
    expect(await centre('timeouts', 'D')).toBeGreaterThan(zero + 20);
    expect(Math.abs((await centre('latency-mean', 'D')) - zero)).toBeLessThan(25);
    expect(await page.locator('.forest .band').count()).toBe(1);
    const band = await page.locator('.forest .band').boundingBox();
    const same = await page.locator('.estimate.same .bar').first().boundingBox();
    expect(same?.x).toBeGreaterThan(band?.x ?? 1e9);
    expect((same?.x ?? 1e9) + (same?.width ?? 0)).toBeLessThan((band?.x ?? 0) + (band?.width ?? 0));
    // Verdicts differ in shape too.
    const shapes = await page
      .locator('.forest .estimate .mark')
      .evaluateAll((marks) => marks.map((m) => m.tagName));
    expect(shapes).toEqual(['path', 'path', 'rect', 'circle']);
    const text = await page.locator('.forest .drawing').getAttribute('aria-label');
    expect(text).toContain('quantity timeouts, R: −61 %, lower');
  });

  it('draws distributions and reads them by keys', async () => {
    const chart = page.locator('.cdf-all');
    expect(await chart.locator('path.curve').count()).toBe(3);
    expect(await page.locator('.cdf-recovery path.curve').count()).toBe(2);
    expect(await chart.locator('.reading').textContent()).toContain('50.0 % within: B 101 ms');
    await chart.locator('[role="slider"]').focus();
    await page.keyboard.press('PageDown');
    expect(await chart.locator('.reading').textContent()).toContain('40.0 % within: B 64.9 ms');
    // The slower arm's curve lies to the right.
    const middle = (arm: string) =>
      chart
        .locator(`path[data-arm="${arm}"]`)
        .evaluate(
          (p) => (p as SVGPathElement).getPointAtLength((p as SVGPathElement).getTotalLength() / 2).x,
        );
    expect(await middle('R')).toBeGreaterThan(await middle('D'));
  });

  it('shows outliers side by side on the same axes', async () => {
    expect(await page.locator('.outliers button').count()).toBe(2);
    await page.locator('.outliers button').nth(1).click();
    const detail = page.locator('.detail');
    expect(await detail.locator('h3').first().textContent()).toContain('R +4.2 s against B');
    expect(await detail.locator('.command').textContent()).toBe(
      'tcplab population connection sample.toml 7 --out look',
    );
    expect(await detail.locator('.sequence-baseline header').textContent()).toContain('timeout1');
    expect(await detail.locator('.sequence-arm header').textContent()).toContain(
      'probe or timeout of a single segment1',
    );
    expect(await range(page, 'sequence-baseline')).toEqual(await range(page, 'sequence-arm'));
    const marks = await page
      .locator('.plot[data-drawn]')
      .evaluateAll((plots) => plots.map((p) => Number((p as HTMLElement).dataset.drawn)));
    expect(marks).toEqual([12, 12]);
    await page.locator('.sequence-arm .plot').focus();
    const before = await range(page, 'sequence-arm');
    await page.keyboard.press('+');
    const after = await range(page, 'sequence-baseline');
    expect(after[1] - after[0]).toBeCloseTo((before[1] - before[0]) / 2, 6);
    await page.keyboard.press('0');
    expect(await range(page, 'sequence-arm')).toEqual(before);
  });

  it('chooses outliers by keys', async () => {
    await page.locator('.outliers button').first().focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.locator('.outliers button[aria-current]').getAttribute('data-outlier')).toBe('1');
    await page.keyboard.press('n');
    expect(await page.locator('.outliers button[aria-current]').getAttribute('data-outlier')).toBe('0');
  });

  it('hides a kind of packets', async () => {
    const plot = page.locator('.sequence-baseline .plot');
    await page.locator('.sequence-baseline .layer', { hasText: 'data' }).click();
    await expect.poll(() => plot.getAttribute('data-drawn')).toBe('2');
  });

  it.each([400, 700, 1440, 2200])('does not scroll sideways at %i pixels', async (width) => {
    await page.setViewportSize({ width, height: 900 });
    await expect.poll(over).toBe(0);
    await expect
      .poll(async () => (await page.locator('.forest svg').last().boundingBox())?.width ?? 9999)
      .toBeLessThanOrEqual(width);
  });

  it('has a dark side', async () => {
    await page.keyboard.press('t');
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(
      'rgb(18, 20, 23)',
    );
  });
});

describe('the page of distributions', () => {
  it('has a histogram with its text, mean and percentiles', async () => {
    ({ page, problems } = await open(browser, drawn));
    const chart = page.locator('.histogram-0');
    expect(await chart.locator('code').textContent()).toContain('lognormal(median 80ms');
    expect(await chart.locator('.percentiles').textContent()).toContain('p95 240 ms');
    expect(await chart.locator('rect.bin').count()).toBe(7);
    const mean = await chart.locator('line.mean').boundingBox();
    const whole = await chart.locator('svg').boundingBox();
    expect(mean?.x).toBeGreaterThan((whole?.x ?? 0) + (whole?.width ?? 0) * 0.4);
    expect(await page.locator('.kind-tables').textContent()).toContain('25.00 %');
    await page.setViewportSize({ width: 400, height: 900 });
    await expect.poll(over).toBe(0);
    expect(problems).toEqual([]);
    await page.close();
  });
});

const tcplab = binary();
if (!tcplab) console.warn('skipped: no tcplab; run make build, or set TCPLAB_BIN');

describe.skipIf(!tcplab)('the pages of the real command', () => {
  const command = (...args: string[]) => {
    const done = spawnSync(tcplab as string, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
    expect(done.status, done.stderr).toBe(0);
    return done.stdout;
  };

  it('run and report show the same', async () => {
    const [html, folder] = [files.path('run.html'), files.path('out')];
    const experiment = 'examples/rto-p0.toml';
    const answer = JSON.parse(
      command('run', experiment, '--connections', '2000', '--out', folder, '--html', html, '--json'),
    );
    command('report', folder);
    expect(statSync(html).size).toBeLessThan(3_000_000);
    ({ page, problems } = await open(browser, html));
    expect(await page.locator('table.arms tbody tr').count()).toBe(answer.arms.length);
    expect(await page.locator('.outliers button').count()).toBeGreaterThan(0);
    const marks = await page
      .locator('.plot[data-drawn]')
      .evaluateAll((plots) => plots.map((p) => Number((p as HTMLElement).dataset.drawn)));
    expect(Math.min(...marks)).toBeGreaterThan(0);
    const text = await page.locator('#app').textContent();
    expect(text).not.toMatch(/NaN|undefined|\[object/);
    expect(problems).toEqual([]);
    await page.close();
    const later = await open(browser, `${folder}/report.html`);
    expect(await later.page.locator('#app').textContent()).toBe(text);
    await later.page.close();
  });

  it('population show: every quantity of one key has its text', async () => {
    const html = files.path('show.html');
    command('population', 'show', 'examples/rto-p0.toml', '--draws', '2000', '--html', html);
    ({ page, problems } = await open(browser, html));
    const without = await page
      .locator('.histograms figure')
      .evaluateAll((figures) =>
        figures.filter((f) => !f.querySelector('code')).map((f) => f.querySelector('h3')?.textContent),
      );
    // These come from tables of kinds, or from two keys.
    expect(without).toEqual(['buffer as time', 'loss of lossy paths', 'outages that end']);
    expect(await page.locator('#app').textContent()).not.toMatch(/NaN|undefined|\[object/);
    expect(problems).toEqual([]);
    await page.close();
  });
});
