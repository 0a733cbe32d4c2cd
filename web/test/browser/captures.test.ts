// The page that the real command writes for the captures that ship with the project.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../src/data/model';
import { binary, launch, type Opened, open, root, scratch } from './browser';

const tcplab = binary();
const folder = join(root, 'tests/captures');
const captures = readdirSync(folder).filter((name) => /\.(pcap|pcapng)(\.gz|\.zst)?$/.test(name));

/** Captures of one page: it has room for so many charts only. */
const GROUP = 20;
const groups = Array.from({ length: Math.ceil(captures.length / GROUP) }, (_, n) =>
  captures.slice(n * GROUP, (n + 1) * GROUP),
);

interface Answer {
  captures: { file: string; findings: Finding[]; streams: { stream: number }[] }[];
}

if (!tcplab) console.warn('skipped: no tcplab; run make build, or set TCPLAB_BIN');

describe.skipIf(!tcplab)('the page of tcplab analyze --html', () => {
  const files = scratch();
  let browser: Browser;
  const pages: { opened: Opened; answer: Answer }[] = [];

  beforeAll(async () => {
    browser = await launch();
    for (const [number, names] of groups.entries()) {
      const paths = names.map((name) => join('tests/captures', name));
      const html = files.path(`captures-${number}.html`);
      const done = spawnSync(tcplab as string, ['analyze', '--json', '--html', html, ...paths], {
        cwd: root,
        encoding: 'utf8',
        maxBuffer: 1 << 28,
      });
      expect(done.stderr.replace(/^Page: .*\n/m, ''), 'standard error').not.toContain('error');
      expect(readFileSync(html, 'utf8').length).toBeGreaterThan(50_000);
      pages.push({ opened: await open(browser, html), answer: JSON.parse(done.stdout) as Answer });
    }
  });

  /** The page of this capture, which is selected, and what the command says of it. */
  async function shown(index: number) {
    const { opened, answer } = pages[Math.floor(index / GROUP)];
    await opened.page.locator('.top select').selectOption(String(index % GROUP));
    return { ...opened, capture: answer.captures[index % GROUP] };
  }

  afterAll(async () => {
    await browser?.close();
    files.remove();
  });

  it.each(captures.map((name, index) => [name, index] as const))('shows %s', async (_name, index) => {
    const { page, problems, capture } = await shown(index);
    const kinds = new Set(capture.findings.map((f) => `${f.id} ${f.severity}`));
    expect(await page.locator('.finding').count()).toBe(kinds.size);
    const told = page.locator('.finding');
    const sizes = await told.evaluateAll((all) =>
      all.map((f) => Number((f as HTMLElement).dataset.findings)),
    );
    expect(sizes.reduce((a, b) => a + b, 0)).toBe(capture.findings.length);
    const titles = capture.findings.map((f) => f.title);
    for (const title of await page.locator('.finding .title').allTextContents())
      expect(titles).toContain(title);
    expect(await page.locator('.streams tbody tr').count()).toBe(capture.streams.length);
    const drawn = page.locator('.plot[data-drawn]');
    const marks = await drawn.evaluateAll((plots) =>
      plots.map((p) => Number((p as HTMLElement).dataset.drawn)),
    );
    expect(Math.max(...marks)).toBeGreaterThan(0);
    const words = `${await page.locator('#app').textContent()} ${await page.locator('main').innerHTML()}`;
    expect(words).not.toMatch(/NaN|undefined|\[object/);
    expect(problems).toEqual([]);
  });

  it('shows where quick ACKs end', async () => {
    const index = captures.findIndex((name) => name.startsWith('quickack-5.10.46'));
    const { page } = await shown(index);
    expect(await page.locator('.finding[aria-current] .meta').textContent()).toContain('quickack_exhausted');
    expect(await page.locator('.facts').textContent()).toContain('segment 17');
    const summary = await page.locator('.chart.wait .plot').getAttribute('aria-label');
    expect(summary).toContain('quick: segments 1 to 16');
    expect(summary).toContain('First delayed: segment 17');
  });
});
