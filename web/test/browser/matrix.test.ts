// The page of a result of points, as the Rust code writes it, opened from disk in a real browser.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { binary, launch, open, root, run, scratch } from './browser';

const files = scratch();
const result = files.path('matrix.html');
let browser: Browser;
let page: Page;
let problems: string[];

beforeAll(async () => {
  run('cargo', ['run', '--quiet', '-p', 'tcplab-report', '--example', 'sample_matrix', '--', result]);
  browser = await launch();
}, 600_000);

afterAll(async () => {
  await browser?.close();
  files.remove();
});

const cells = () => page.locator('.heatmap tbody td');
const figures = () => cells().evaluateAll((all) => all.map((cell) => cell.firstChild?.textContent));
const classes = () => cells().evaluateAll((all) => all.map((cell) => cell.className));
const choose = (id: string, label: string) =>
  page.locator(`select[data-choose="${id}"]`).selectOption({ label });
const reading = () => page.locator('.heatmap .reading').textContent();

describe('the heat map', () => {
  beforeEach(async () => {
    ({ page, problems } = await open(browser, result));
  });

  afterEach(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });

  it('opens with what the file says: changes against the base, readable labels, a band', async () => {
    expect(await page.locator('main h2').first().textContent()).toBe('Does the <b>filter</b> help?');
    expect(await page.locator('.heatmap h3').textContent()).toBe(
      'down.goodput_bps: change of filter in per cent against none; small: the value in Mbit/s; medians of the repetitions',
    );
    expect(await page.locator('.heatmap thead th').allTextContents()).toEqual([
      'up rate',
      '500 kbit/s',
      '1 Mbit/s',
      '30 Mbit/s',
    ]);
    expect(await page.locator('.heatmap tbody th').allTextContents()).toEqual(['10 Mbit/s', '30 Mbit/s']);
    expect(await figures()).toEqual(['+150 %', '+20 %', '+1 %', '+150 %', '+20 %', '–']);
    expect(await classes()).toEqual(['higher-4', 'higher-2', 'same', 'higher-4', 'higher-2', 'no-value']);
    expect(await page.locator('.classes').textContent()).toContain('within ±1 %: no matter');
  });

  it('has colours of which each differs, also in lightness from one class to the next', async () => {
    const colours = await page
      .locator('.classes i')
      .evaluateAll((all) => all.map((i) => getComputedStyle(i).backgroundColor));
    expect(new Set(colours).size).toBe(colours.length);
    const light = colours.map((c) => {
      const [r, g, b] = (c.match(/\d+/g) ?? []).map(Number);
      return 0.21 * r + 0.72 * g + 0.07 * b;
    });
    const middle = light.indexOf(Math.max(...light));
    expect(light.slice(0, middle + 1)).toEqual([...light.slice(0, middle + 1)].sort((a, b) => a - b));
    expect(light.slice(middle)).toEqual([...light.slice(middle)].sort((a, b) => b - a));
  });

  it('pins other axes, turns the axes, changes base, measure and band', async () => {
    await choose('axis-0', '1 %').catch(() => choose('axis-2', '1 %'));
    expect((await figures()).slice(0, 3)).toEqual(['−60 %', '−17 %', '−1 %']);
    expect((await classes())[0]).toBe('lower-3');
    await page.locator('.choosers input').fill('20');
    expect((await classes()).slice(0, 3)).toEqual(['lower-2', 'same', 'same']);
    await choose('base', 'nothing: the values');
    expect(await figures()).toEqual(['3.60', '7.50', '8.91', '10.8', '22.5', '26.7']);
    expect((await classes())[0]).toBe('shade-0');
    expect((await classes())[5]).toBe('shade-6');
    expect(await page.locator('.classes li').allTextContents()).toContain('linear scale');
    await choose('x', 'down rate');
    expect(await page.locator('.heatmap tbody th').allTextContents()).toEqual([
      '500 kbit/s',
      '1 Mbit/s',
      '30 Mbit/s',
    ]);
    await choose('y', 'variant');
    expect(await page.locator('.heatmap tbody th').allTextContents()).toEqual(['none', 'filter']);
    await choose('measure', 'ping.latency_us.p50');
    expect(await page.locator('.heatmap h3').textContent()).toBe(
      'ping.latency_us.p50, ms; medians of the repetitions',
    );
    expect(await figures()).toEqual(['52.4', '52.4', '52.4', '52.4']);
  });

  it('is read by keys', async () => {
    await cells().first().focus();
    expect(await reading()).toContain(
      'down rate 10 Mbit/s, up rate 500 kbit/s: 22.5 [22.3 .. 22.7] Mbit/s in 3 runs',
    );
    expect(await reading()).toContain('none: 9 [8.91 .. 9.09] Mbit/s in 3 runs');
    await page.keyboard.press('End');
    expect(await reading()).toContain('within the band');
    await page.keyboard.press('ArrowDown');
    expect(await reading()).toContain('nothing came');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Tab');
    expect(await reading()).toContain('nothing came');
  });

  it.each([400, 1440])('does not scroll sideways at %i pixels', async (width) => {
    await page.setViewportSize({ width, height: 900 });
    const over = () =>
      page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    await expect.poll(over).toBe(0);
  });

  it('has the notes of the run as text, above the map', async () => {
    const notes = page.locator('.run-notes li');
    expect(await notes.allTextContents()).toEqual(['latency_us: <b>no</b> ping came back']);
    const [note, map] = await Promise.all(
      ['.run-notes', '.heatmap'].map((part) => page.locator(part).boundingBox()),
    );
    expect(note?.y).toBeLessThan(map?.y ?? 0);
  });

  it('is printed with all columns of its tables', async () => {
    await page.setViewportSize({ width: 760, height: 1000 });
    await page.emulateMedia({ media: 'print' });
    const tables = () =>
      page.evaluate(() => {
        // As wide as a table of many measures.
        for (const cell of document.querySelectorAll('table.points tr > :last-child'))
          cell.textContent = 'many.measures.with.long.names_bps '.repeat(20);
        return [...document.querySelectorAll<HTMLElement>('.scroll')].map(
          (place) => place.scrollWidth <= document.body.clientWidth,
        );
      });
    expect(await tables()).toContain(false);
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    expect(await tables()).toEqual([true, true]);
  });

  it('has every point in a table', async () => {
    expect(await page.locator('table.points tbody tr').count()).toBe(24);
    expect(await page.locator('#app').textContent()).not.toMatch(/NaN|undefined|\[object/);
  });
});

const tcplab = binary();

/** Two flows through a port of 20 Mbit/s, with a short and a long queue, for 2 s. */
const OVER_TIME = `
name = "queues"
measures = ["flow.goodput_bps"]
run = { link_every = "10ms", tcp_info_every = "50ms", captures = false }
host = [{ name = "sender", count = 2 }, { name = "switch", forward = true }, { name = "sink" }]
app = [{ kind = "bulk", name = "flow", client = "sender", server = "sink", duration = "2s", stagger = "500ms" }]

[[link]]
between = ["sender", "switch"]
rate = "100mbit"

[[link]]
between = ["switch", "sink"]
rate = "20mbit"
delay = "5ms"

[[variant]]
name = "short"
set = { "link.switch-sink.a_to_b.limit" = 20 }

[[variant]]
name = "long"
set = { "link.switch-sink.a_to_b.limit" = 400 }
`;

describe.skipIf(!tcplab)('what points did over time', () => {
  const html = files.path('over-time.html');
  const charts = () => page.locator('.over-time .chart h3').allTextContents();
  const said = (id: string) => page.locator(`.over-time [data-chart="${id}"] .reading`).textContent();
  const range = async () => {
    const { from, to } = await page
      .locator('.board-over-time')
      .evaluate((e) => ({ ...(e as HTMLElement).dataset }));
    return [Number(from), Number(to)];
  };

  beforeAll(() => {
    const file = files.path('queues.toml');
    writeFileSync(file, OVER_TIME);
    run(tcplab as string, ['run', file, '--on', 'model', '--html', html]);
  });

  beforeEach(async () => {
    ({ page, problems } = await open(browser, html));
  });

  afterEach(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });

  it('has the queue of the slowest link, its rate, shares, and each flow of each variant', async () => {
    expect(await charts()).toEqual([
      'Queue of switch → sink',
      'Rate of frames out of switch → sink',
      'RTT',
      "Jain's index",
      'Goodput of flow: short',
      'Goodput of flow: long',
    ]);
    const drawn = await page
      .locator('.over-time .plot')
      .evaluateAll((all) => all.map((plot) => Number((plot as HTMLElement).dataset.drawn)));
    expect(Math.min(...drawn)).toBeGreaterThan(20);
    // 20 frames of 1,514 bytes are the most that the short queue takes; 12.1 ms at 20 Mbit/s.
    expect(await said('queue')).toMatch(/short mean .* most 30\.3 kB \(12\.1\d ms\)/);
    expect(await said('flows-0-0')).toMatch(/flow-1 .*Mbit\/s.*flow-2 .*Mbit\/s/);
    expect(await page.locator('.over-time').textContent()).not.toMatch(/NaN|undefined|Infinity|\[object/);
  });

  it('chooses another way, hides lines, zooms all charts together and goes back', async () => {
    await choose('over-way', 'sender-1 → switch');
    expect((await charts())[0]).toBe('Queue of sender-1 → switch');
    await page.locator('.over-time .layer', { hasText: 'short' }).click();
    expect(await said('queue')).not.toContain('short');
    expect(await said('queue')).toContain('long');
    const [from, to] = await range();
    const rate = page.locator('.over-time [data-chart="rate"] .u-over');
    await rate.scrollIntoViewIfNeeded();
    const box = await rate.boundingBox();
    if (!box) throw new Error('no chart');
    await page.mouse.move(box.x + box.width * 0.25, box.y + 20);
    expect(await page.locator('.over-time .readout').textContent()).toMatch(/^at 0\.7/);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 22, { steps: 4 });
    await page.mouse.up();
    const [a, b] = await range();
    expect((a - from) / (to - from)).toBeCloseTo(0.25, 1);
    expect((b - from) / (to - from)).toBeCloseTo(0.5, 1);
    await page.mouse.dblclick(box.x + 30, box.y + 30);
    expect(await range()).toEqual([from, to]);
  });

  it.each([400, 1440])('does not scroll sideways at %i pixels', async (width) => {
    await page.setViewportSize({ width, height: 900 });
    const over = () =>
      page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    await expect.poll(over).toBe(0);
  });
});

describe.skipIf(!tcplab)('repetitions over time', () => {
  it('are thin lines in the colour of their variant, below the bold median that the pointer reads', async () => {
    const [file, html] = [files.path('repeated.toml'), files.path('repeated.html')];
    writeFileSync(file, OVER_TIME);
    run(tcplab as string, ['run', file, '--on', 'model', '--repeat', '3', '--html', html]);
    ({ page, problems } = await open(browser, html));
    const over = page.locator('.over-time');
    expect(await over.textContent()).toContain('3 repetitions, median in bold.');
    const rtt = over.locator('[data-chart="rtt-0"]');
    // Two variants, each with its median and three runs.
    const drawn = Number(await rtt.locator('.plot').getAttribute('data-drawn'));
    await over.locator('.layer', { hasText: 'short' }).click();
    const one = Number(await rtt.locator('.plot').getAttribute('data-drawn'));
    expect(drawn / one).toBeCloseTo(2, 0);
    expect(one).toBeGreaterThan(4 * 30);
    await rtt.locator('.u-over').hover();
    expect(await rtt.locator('.reading').textContent()).toMatch(/^ ?long median \d.* ms, runs .* to .* ms$/);
    expect(await over.textContent()).not.toMatch(/NaN|undefined|Infinity|\[object/);
    expect(problems).toEqual([]);
    await page.close();
  });
});

describe.skipIf(!tcplab)('the page of the real command', () => {
  it('run and report show the same', async () => {
    const [html, folder] = [files.path('run.html'), files.path('out')];
    const command = (...args: string[]) => {
      const done = spawnSync(tcplab as string, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
      expect(done.status, done.stderr).toBe(0);
    };
    command('run', 'examples/delayed-ack.toml', '--on', 'model:linux-6.1', '--out', folder, '--html', html);
    command('report', folder);
    ({ page, problems } = await open(browser, html));
    const text = await page.locator('#app').textContent();
    expect(text).not.toMatch(/NaN|undefined|\[object/);
    expect(await cells().count()).toBeGreaterThan(0);
    expect(problems).toEqual([]);
    await page.close();
    const later = await open(browser, `${folder}/report.html`);
    expect(await later.page.locator('#app').textContent()).toBe(text);
    await later.page.close();
  });
});
