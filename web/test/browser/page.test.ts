// The page that the Rust code writes, opened from disk in a real browser.

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { drag, open, pointTo, range } from './browser';
import { samplePage } from './sample';

let page: Page;
const sample = samplePage((opened) => {
  page = opened;
});
const { choose } = sample;
const drawn = async (chart: string) =>
  Number(await page.locator(`.chart.${chart} .plot`).getAttribute('data-drawn'));
const draws = async (chart: string) =>
  Number(await page.locator(`.chart.${chart} .plot`).getAttribute('data-draws'));

describe('the page', () => {
  it('shows the finding with its cause and remedy, and its stream', async () => {
    const finding = page.locator('.finding[aria-current]');
    expect(await finding.textContent()).toContain('left quick-ACK mode after 16 segments');
    expect(await finding.textContent()).toContain('6.1.56');
    expect(await finding.textContent()).toContain('quickack 1');
    expect(await page.locator('main h2').textContent()).toContain('Stream 0');
    expect(await page.locator('.facts').textContent()).toContain('segment 17');
  });

  it('draws five charts', async () => {
    for (const chart of ['sequence', 'throughput', 'wait', 'rtt', 'flight']) {
      expect(await drawn(chart), chart).toBeGreaterThan(10);
      expect(await page.locator(`.chart.${chart} canvas`).count()).toBe(1);
    }
  });

  it('shows names from outside as text', async () => {
    const text = await page.locator('.finding.info .title').textContent();
    expect(text).toContain('<b>without</b>');
    expect(await page.locator('.finding.info b').count()).toBe(0);
  });

  it('zooms by dragging, in all charts at once, and goes back', async () => {
    await page.keyboard.press('0');
    const before = await range(page, 'sequence');
    const segments = await range(page, 'wait');
    await drag(page, 'sequence', 0.25, 0.5);
    const after = await range(page, 'sequence');
    expect(after[0]).toBeGreaterThan(before[0]);
    expect(after[1]).toBeLessThan(before[1]);
    expect(after[1] - after[0]).toBeCloseTo((before[1] - before[0]) / 4, 1);
    expect(await range(page, 'rtt')).toEqual(after);
    expect(await range(page, 'flight')).toEqual(after);
    const zoomed = await range(page, 'wait');
    expect(zoomed[1] - zoomed[0]).toBeLessThan((segments[1] - segments[0]) / 2);
    await page.keyboard.press('Backspace');
    expect(await range(page, 'sequence')).toEqual(before);
  });

  it('zooms over the segments too, and time follows', async () => {
    await page.keyboard.press('0');
    const before = await range(page, 'sequence');
    await drag(page, 'wait', 0.1, 0.25);
    const [from, to] = await range(page, 'wait');
    expect(to - from).toBeLessThan(20);
    const after = await range(page, 'sequence');
    expect(after[1] - after[0]).toBeLessThan((before[1] - before[0]) / 4);
  });

  it('zooms by the wheel, pans by Shift and drag, resets by a double click', async () => {
    await page.keyboard.press('0');
    const before = await range(page, 'sequence');
    await pointTo(page, 'sequence', 0.5, 0.5);
    await page.mouse.wheel(0, -300);
    const zoomed = await range(page, 'sequence');
    expect(zoomed[1] - zoomed[0]).toBeLessThan(before[1] - before[0]);
    await page.keyboard.down('Shift');
    await drag(page, 'sequence', 0.5, 0.4);
    await page.keyboard.up('Shift');
    const panned = await range(page, 'sequence');
    expect(panned[0]).toBeGreaterThan(zoomed[0]);
    expect(panned[1] - panned[0]).toBeCloseTo(zoomed[1] - zoomed[0], 6);
    await page.locator('.chart.sequence .u-over').dblclick();
    expect(await range(page, 'sequence')).toEqual(before);
  });

  it('names the packet under the pointer and rings it in the other charts', async () => {
    // The finding's packets are in the middle; its second delayed ACK is packet 39.
    await page.locator('.packet', { hasText: '#39' }).click();
    await pointTo(page, 'wait', 0.5, 0.2);
    const box = page.locator('.tooltip');
    await expect.poll(() => box.isVisible()).toBe(true);
    const text = (await box.locator('*').allTextContents()).join(' ').replace(/\s+/g, ' ');
    expect(text).toMatch(/#\d+ pure ACK/);
    expect(text).toMatch(/ACK class delayed/);
    expect(text).toMatch(/wait 4\d\.\d\d ms/);
    for (const chart of ['sequence', 'rtt', 'flight']) {
      expect(await page.locator(`.chart.${chart} .ring`).isVisible(), chart).toBe(true);
    }
    await page.mouse.move(5, 5);
    await expect.poll(() => box.isVisible()).toBe(false);
  });

  it('steps from packet to packet by keys', async () => {
    await page.keyboard.press('.');
    const box = page.locator('.tooltip');
    const first = Number(await box.getAttribute('data-packet'));
    await page.keyboard.press('.');
    expect(Number(await box.getAttribute('data-packet'))).toBe(first + 1);
    await page.keyboard.press('Escape');
    expect(await box.isVisible()).toBe(false);
  });

  it('is dark or light as the system says, and as the button says', async () => {
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(await ground()).toBe('rgb(255, 255, 255)');
    const painted = await draws('sequence');
    await page.locator('button.theme').click();
    expect(await ground()).toBe('rgb(18, 20, 23)');
    await expect.poll(() => draws('sequence')).toBeGreaterThan(painted);
    const dark = await open(sample.browser(), sample.file, 'dark');
    expect(await dark.page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(
      'rgb(18, 20, 23)',
    );
    await dark.page.close();
  });

  it('turns to the other direction and says why it is empty', async () => {
    await page.locator('[data-direction="client"]').click();
    expect(await page.locator('[data-direction="client"]').getAttribute('aria-checked')).toBe('true');
    expect(await page.locator('.chart.wait.empty').textContent()).toContain('No ACK for new data');
    await page.keyboard.press('d');
    expect(await page.locator('[data-direction="server"]').getAttribute('aria-checked')).toBe('true');
  });

  it('chooses a stream from the table, by pointer and by keys', async () => {
    await choose(1);
    expect(await page.locator('main h2').textContent()).toContain('Stream 1');
    expect(await page.locator('.chart.sequence header').textContent()).toContain('probe or timeout');
    await page.locator('tr[data-stream="1"]').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await page.locator('main h2').textContent()).toContain('Stream 2');
  });

  it('a finding opens its stream, direction and packets', async () => {
    await page.locator('.finding.medium .head').click();
    expect(await page.locator('main h2').textContent()).toContain('Stream 1');
    expect(await page.locator('[data-direction="server"]').getAttribute('aria-checked')).toBe('true');
    const full = await page.locator('.board').getAttribute('data-from');
    await page.keyboard.press('0');
    expect(await page.locator('.board').getAttribute('data-from')).not.toBe(full);
  });

  it('keeps the focus where keys put it', async () => {
    await page.locator('.finding.medium .head').focus();
    await page.keyboard.press('Enter');
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
    expect(await focused()).toContain('stood still');
    await page.locator('[data-direction="client"]').focus();
    await page.keyboard.press('Enter');
    expect(await focused()).toContain('client → server');
  });

  it('filters and sorts the streams', async () => {
    await page.locator('input[type="search"]').fill('2001:db8');
    expect(await page.locator('.streams tbody tr').count()).toBe(1);
    await page.locator('input[type="search"]').fill('');
    await page.locator('th button', { hasText: 'pkts' }).click();
    expect(await page.locator('.streams tbody tr').first().getAttribute('data-stream')).toBe('2');
  });

  it('says why a stream has no charts, and why a capture has no streams', async () => {
    await page.locator('tr.no-charts').first().click();
    const why = await page.locator('.nothing').textContent();
    expect(why).toContain('No charts for this stream');
    expect(why).toMatch(/tshark -r sample\.pcapng -Y tcp\.stream==\d+ -w one\.pcapng/);
    await page.locator('.top select').selectOption('1');
    expect(await page.locator('.findings').textContent()).toContain('there is no TCP connection to look at');
    expect(await page.locator('.streams').textContent()).toContain('The file holds no packets');
  });

  it('shows a SYN without answer and a capture of one direction', async () => {
    await choose(3);
    expect(await page.locator('.chart.flight').textContent()).toContain('No data was sent');
    await choose(4);
    expect(await page.locator('.notes').textContent()).toContain('only one direction');
    expect(await page.locator('.chart.rtt').textContent()).toContain('No sample: no ACK covers');
  });
});

describe('100,000 packets', () => {
  it('are drawn within a bound that the pixels set, at every zoom', async () => {
    await choose(2);
    expect(await page.locator('.facts').textContent()).toContain('50,000 segments');
    const width = (await page.locator('.chart.sequence .u-over').boundingBox())?.width ?? 0;
    const height = (await page.locator('.chart.wait .u-over').boundingBox())?.height ?? 0;
    for (let zoom = 0; zoom < 5; zoom++) {
      // Two lines with at most five corners a column, bars of three kinds with at most eight.
      expect(await drawn('sequence')).toBeLessThan(width * (2 * 5 + 3 * 8));
      expect(await drawn('sequence')).toBeGreaterThan(20);
      expect(await drawn('wait')).toBeLessThan(width * height);
      expect(await drawn('flight')).toBeLessThan(width * 2 * 6);
      const before = await draws('sequence');
      await drag(page, 'sequence', 0.4, 0.6);
      await expect.poll(() => draws('sequence')).toBeGreaterThan(before);
    }
    await pointTo(page, 'sequence', 0.5, 0.5);
  });
});

describe('a narrow window', () => {
  it('of 900 pixels does not scroll sideways', async () => {
    await page.setViewportSize({ width: 900, height: 1000 });
    const over = () =>
      page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(await over()).toBe(0);
    await expect
      .poll(async () => (await page.locator('.chart.sequence canvas').boundingBox())?.width ?? 9999)
      .toBeLessThan(900);
  });
});
