// Where the time went, what was not checked, paper and narrow windows, in a real browser.

import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { range } from './browser';
import { samplePage } from './sample';

let page: Page;
const sample = samplePage((opened) => {
  page = opened;
});
const { choose } = sample;
const text = async (what: string) =>
  ((await page.locator(what).first().textContent()) ?? '').replaceAll('\u00a0', ' ');
const over = () =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

describe('where the time went', () => {
  it('is one sentence for the capture, with a bar and the same in words', async () => {
    expect(await text('.time .waited')).toMatch(/^Clients waited [\d.]+ s\b.*: [\d.]+ s for servers, /);
    expect(await page.locator('.time > .budget .bar i').count()).toBeGreaterThan(1);
    expect(await text('.time > .budget .parts li')).toContain('server thinks');
    expect(await text('.time summary')).toContain('All time of 14 streams');
  });

  it('is a bar for the stream, whose parts are as wide as their time', async () => {
    expect(await text('.stream-time h3')).toBe('Where 9.991 s went');
    const parts = await page.locator('.stream-time .parts li').allTextContents();
    expect(parts.map((p) => p.replaceAll('\u00a0', ' ')).slice(0, 2)).toEqual([
      'idle 6.439 s 64 %',
      'delayed ACK 3.546 s 35 %',
    ]);
    const whole = (await page.locator('.stream-time .bar').boundingBox())?.width ?? 0;
    const delayed = page.locator('.stream-time .bar i[title^="delayed ACK"]');
    expect(((await delayed.boundingBox())?.width ?? 0) / whole).toBeCloseTo(0.355, 2);
  });

  it('is a band that shares the edges of the graph above', async () => {
    const above = await page.locator('.chart.sequence .u-over').boundingBox();
    const band = await page.locator('.band .track').boundingBox();
    expect(Math.abs((above?.x ?? 0) - (band?.x ?? 9999))).toBeLessThan(1.5);
    expect(Math.abs((above?.width ?? 0) - (band?.width ?? 9999))).toBeLessThan(1.5);
    expect(Number(await page.locator('.band').getAttribute('data-drawn'))).toBeGreaterThan(10);
  });

  it('names the span under the pointer', async () => {
    await page.keyboard.press('0');
    const band = await page.locator('.band .track').boundingBox();
    if (!band) throw new Error('no band');
    await page.mouse.move(band.x + band.width * 0.5, band.y + 8);
    expect(await text('.band .readout')).toMatch(
      /^(idle|delayed ACK): \d\.\d{6} s to \d\.\d{6} s, \d\d\.\d\d ms$/,
    );
  });

  it('is walked by keys, and Enter shows a span', async () => {
    await page.keyboard.press('0');
    const track = page.locator('.band .track');
    await track.focus();
    await page.keyboard.press('Home');
    expect(await track.getAttribute('aria-valuetext')).toMatch(/^handshake: 0\.000000 s to /);
    await page.keyboard.press('ArrowRight');
    expect(await track.getAttribute('aria-valuenow')).toBe('1');
    const before = await range(page, 'sequence');
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await range(page, 'sequence'))[1]).toBeLessThan(before[1] / 2);
  });

  it('stays bounded by the pixels with 100,000 packets', async () => {
    await choose(2);
    const width = (await page.locator('.band .track').boundingBox())?.width ?? 0;
    expect(Number(await page.locator('.band').getAttribute('data-drawn'))).toBeLessThan(2 * width);
    expect(Number(await page.locator('.chart.throughput .plot').getAttribute('data-drawn'))).toBeLessThan(
      6 * width,
    );
  });

  it('lists requests, slowest first or by time, and goes to one', async () => {
    await choose(12);
    const rows = page.locator('.requests li');
    expect(await rows.count()).toBe(20);
    expect(await text('.requests li b')).toBe('368.7 ms');
    expect(await text('.requests li')).toContain('server thinks');
    expect(await text('.requests > .none')).toContain('87 requests are not in this page');
    await page.locator('.requests header button').click();
    expect(await text('.requests li small')).toMatch(/ at 0\.0\d+ s/);
    await page.locator('.requests .show-more').click();
    expect(await rows.count()).toBe(163);
    const before = await range(page, 'sequence');
    await rows.first().locator('button').click();
    const after = await range(page, 'sequence');
    expect(after[1] - after[0]).toBeLessThan((before[1] - before[0]) / 10);
  });
});

describe('findings', () => {
  it('that are equal are told once, and each place can be opened', async () => {
    const group = page.locator('.finding.medium');
    expect(await group.count()).toBe(1);
    expect(await group.locator('.meta').textContent()).toContain('3 streams');
    await group.locator('.head').click();
    expect(await group.locator('.places button').allTextContents()).toEqual([
      'stream 1',
      'stream 5',
      'stream 12',
    ]);
    await group.locator('.places button', { hasText: 'stream 12' }).focus();
    await page.keyboard.press('Enter');
    expect(await text('main h2 .number')).toBe('Stream 12');
    expect(await group.locator('.title').textContent()).toContain('242 ms');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('stream 12');
  });

  it('give the cure first, then the reason, then the evidence', async () => {
    const heads = await page.locator('.finding[aria-current] h4').allTextContents();
    expect(heads).toEqual(['What to do', 'Proved by an experiment', 'Why', 'Packets of stream 0']);
  });

  it('show what an experiment said, with the figures of each cure', async () => {
    const finding = page.locator('.finding[aria-current]');
    expect(await finding.locator('.meta').textContent()).toContain('proved');
    expect(await text('.proof caption')).toBe('Median wait of 84 ACKs.');
    const rows = (await finding.locator('.proof tr').allTextContents()).map((r) =>
      r.replaceAll('\u00a0', ' '),
    );
    expect(rows).toEqual([
      'in the capture42.19 ms',
      'without a curemodel:linux-6.1.5640.10 ms',
      'with a kernel with the fix on 192.0.2.10model:linux-6.10 µsfinding gone',
      'with ip route ... quickack 1 on 192.0.2.10model:linux-6.1.56no figurefinding stays',
    ]);
    const file = finding.locator('.proof details');
    expect(await file.locator('pre').isVisible()).toBe(false);
    await file.locator('summary').click();
    expect(await file.locator('pre').textContent()).toContain('schema = "tcplab.experiment/1"');
    expect(await file.textContent()).toContain('tcplab run experiments/sample-0.toml');
  });

  it('say why there is no proof', async () => {
    await page.locator('.finding.medium .head').click();
    const proof = page.locator('.finding.medium .proof');
    expect(await proof.locator('h4').textContent()).toBe('Not proved');
    expect(await proof.locator('p').textContent()).toBe('The losses of the path are not in the experiment.');
    expect(await proof.locator('table, details').count()).toBe(0);
  });

  it('that could not be looked for are named, with what is missing and where', async () => {
    const block = page.locator('details.not-checked');
    expect(await block.locator('summary').textContent()).toContain('Not in the capture');
    await block.locator('summary').focus();
    await page.keyboard.press('Enter');
    const words = (await block.textContent()) ?? '';
    expect(words).toContain('Without the handshake');
    expect(words).toMatch(/black_hole \(stream 13\)/);
    expect(words).toContain('What to do: Start the capture before the connection begins');
    await choose(13);
    expect(await text('.not-checked-here')).toContain(
      'The capture does not have the handshake of this stream',
    );
  });
});

describe('a stream without its beginning', () => {
  it('has no window line as fact, and no delayed ACK that was none', async () => {
    await choose(13);
    const window = page.locator('.chart.sequence .layer', { hasText: 'window' });
    expect(await window.textContent()).toContain('scale unknown');
    expect(await window.getAttribute('aria-pressed')).toBe('false');
    const summary = (await page.locator('.chart.wait .plot').getAttribute('aria-label')) ?? '';
    expect(summary).toContain('none delayed: segments 1 to 240');
    for (let i = 0; i < 3; i++) await page.keyboard.press('.');
    await expect.poll(() => page.locator('.tooltip').isVisible()).toBe(true);
    expect(await text('.tooltip')).toContain('502, scale unknown');
  });
});

describe('paper', () => {
  it('holds every finding, request and stream, and the charts at its width', async () => {
    await choose(12);
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    expect(await page.locator('.finding .more').count()).toBe(await page.locator('.finding').count());
    expect(await page.locator('.requests li').count()).toBe(163);
    expect(await page.locator('details:not([open])').count()).toBe(0);
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('light');
    for (const chart of ['sequence', 'throughput', 'wait', 'flight']) {
      const box = await page.locator(`.chart.${chart} canvas`).boundingBox();
      expect(box?.width ?? 9999, chart).toBeLessThan(700);
      expect(box?.height ?? 0, chart).toBeGreaterThan(150);
    }
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    expect(await page.locator('.requests li').count()).toBe(20);
    expect(await page.locator('details[open]').count()).toBe(0);
    await expect
      .poll(async () => (await page.locator('.chart.sequence canvas').boundingBox())?.width ?? 0)
      .toBeGreaterThan(700);
  });

  it('becomes a PDF of some sheets', async () => {
    const path = sample.path('sample.pdf');
    await page.pdf({ path, format: 'A4' });
    const sheets = readFileSync(path, 'latin1').match(/\/Type\s*\/Page\b/g) ?? [];
    expect(sheets.length).toBeGreaterThan(2);
  });
});

describe('a window of 400 pixels', () => {
  it('does not scroll sideways, whatever is open', async () => {
    await page.setViewportSize({ width: 400, height: 800 });
    for (const stream of [0, 1, 4, 5, 12, 13]) {
      await choose(stream);
      await page.evaluate(() => {
        for (const details of document.querySelectorAll('details')) details.open = true;
      });
      expect(await over(), `stream ${stream}`).toBe(0);
    }
    await expect
      .poll(async () => (await page.locator('.chart.sequence canvas').boundingBox())?.width ?? 9999)
      .toBeLessThan(400);
  });
});
