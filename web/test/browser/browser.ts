// Debian's chromium and the pages to open in it.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';

export const root = resolve(import.meta.dirname, '../../..');

/** The browser; `TCPLAB_CHROMIUM` names another than Debian's. */
export function launch(): Promise<Browser> {
  const executablePath = process.env.TCPLAB_CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(executablePath)) {
    throw new Error(`${executablePath} is missing: apt-get install chromium (make test does it)`);
  }
  return chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}

/** The real binary: `TCPLAB_BIN`, or the release build where there is one. */
export function binary(): string | null {
  const path = process.env.TCPLAB_BIN ?? join(root, 'target/release/tcplab');
  return existsSync(path) ? path : null;
}

/** A folder that is gone after the tests. */
export function scratch(): { path: (name: string) => string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'tcplab-page-'));
  return {
    path: (name) => join(folder, name),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Runs a command and fails with what it printed. */
export function run(command: string, args: string[]): void {
  const done = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (done.error) throw done.error;
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')}: exit ${done.status}\n${done.stderr}`);
}

export interface Opened {
  page: Page;
  /** Errors of the page and requests that left it. */
  problems: string[];
}

/** Opens a file from disk. */
export async function open(
  browser: Browser,
  file: string,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme });
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      problems.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (url !== pathToFileURL(file).href && !url.startsWith('data:')) problems.push(`request: ${url}`);
  });
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector('.chart, .nothing, .compare');
  return { page, problems };
}

/** The x range of a chart, as the page says it. */
export async function range(page: Page, chart: string): Promise<[number, number]> {
  const plot = page.locator(`.chart.${chart} .plot`);
  return [Number(await plot.getAttribute('data-from')), Number(await plot.getAttribute('data-to'))];
}

/** Moves the pointer to a place of a chart, given as shares of its width and height. */
export async function pointTo(page: Page, chart: string, x: number, y: number): Promise<void> {
  const box = await page.locator(`.chart.${chart} .u-over`).boundingBox();
  if (!box) throw new Error(`chart ${chart} is not on the page`);
  await page.mouse.move(box.x + box.width * x, box.y + box.height * y, { steps: 3 });
}

/** Drags over a chart from one share of its width to another. */
export async function drag(page: Page, chart: string, from: number, to: number): Promise<void> {
  await pointTo(page, chart, from, 0.5);
  await page.mouse.down();
  await pointTo(page, chart, to, 0.5);
  await page.mouse.up();
}
