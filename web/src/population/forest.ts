// The forest plot: a row for each quantity of each arm, in per cent of the baseline.

import type { PopulationPage, Row, Verdict } from '../data/population';
import { h, svg } from '../dom';
import { canvas, type Figure, figure, line, shorten, words } from './figure';
import { percent, percentScale, type Scale } from './scale';

const ROW = 19;
const HEAD = 21;
const TOP = 24;

/** Verdicts by colour, by shape and by word. */
const SAYS: Record<Verdict, string> = {
  lower: 'lower',
  higher: 'higher',
  same: 'the same, inside the band',
  undecided: 'undecided',
};

export function forest(page: PopulationPage): Figure {
  const { rows, baseline, level } = page.result;
  const known = rows.filter((r) => r.percent !== null);
  const legend = h('p', { class: 'legend' });
  for (const verdict of Object.keys(SAYS) as Verdict[]) {
    const n = known.filter((r) => r.verdict === verdict).length;
    const icon = svg('svg', { width: 14, height: 12, 'aria-hidden': 'true' }, mark(verdict, 7, 6));
    legend.append(h('span', {}, icon, ` ${SAYS[verdict]}: ${n}`));
  }
  const note = h(
    'p',
    { class: 'note' },
    `Per cent against ${baseline} with 95 % intervals; decided at a false discovery rate of ${level * 100} % over the table. ` +
      `The axis is linear to about ${page.band_percent} % and logarithmic beyond. The grey band is ±${page.band_percent} %: ` +
      'an interval of a latency that lies inside it means “the same”.',
  );
  const summary =
    known.map((r) => `${r.title}, ${r.arm}: ${percent(r.percent ?? 0)}, ${r.verdict}`).join('; ') ||
    'no differences';
  return figure('forest', `Against ${baseline}`, [legend, note], summary, (width) => draw(page, width));
}

/** What all known intervals need, and a little more; never without zero. */
function ends(rows: Row[], band: number): [number, number] {
  const values = rows.flatMap((r) => [r.percent ?? 0, ...(r.interval ?? [])]);
  const low = Math.min(-2 * band, ...values);
  const high = Math.max(2 * band, ...values);
  return [low * 1.1, high * 1.1];
}

function draw(page: PopulationPage, width: number): SVGElement {
  const { rows } = page.result;
  const narrow = width < 560;
  const left = Math.max(40, ...rows.map((r) => r.arm.length * 7 + 26));
  const right = narrow ? 74 : 218;
  const [low, high] = ends(rows, page.band_percent);
  const scale = percentScale(low, high, page.band_percent || 1, left, width - right);
  const parts: SVGElement[] = [];
  let y = TOP;
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(row.id, [...(groups.get(row.id) ?? []), row]);
  for (const group of groups.values()) {
    const height = HEAD + group.length * ROW;
    if (page.banded.includes(group[0].id)) {
      const x = scale.at(-page.band_percent);
      const wide = scale.at(page.band_percent) - x;
      parts.push(svg('rect', { x, y: y + HEAD, width: wide, height: group.length * ROW, class: 'band' }));
    }
    parts.push(words(0, y + 15, shorten(group[0].title, width - right), 'start', 'group'));
    group.forEach((row, i) => {
      parts.push(...drawRow(row, y + HEAD + i * ROW + ROW / 2, scale, width, narrow));
    });
    y += height + 4;
  }
  const frame = scale.ticks.flatMap((t) => [
    line(scale.at(t.value), TOP, scale.at(t.value), y, t.value === 0 ? 'zero' : 'grid'),
    words(scale.at(t.value), 14, t.text, 'middle'),
  ]);
  return canvas(width, y + 4, ...frame, ...parts);
}

function drawRow(row: Row, y: number, scale: Scale, width: number, narrow: boolean): SVGElement[] {
  const parts = [words(14, y + 4, row.arm, 'start', 'arm')];
  if (row.percent === null) {
    parts.push(words(width, y + 4, shorten(row.missing ?? 'no value', narrow ? 74 : 218), 'end', 'tick'));
    return parts;
  }
  const inner: SVGElement[] = [];
  const text = `${row.title}, ${row.arm}: ${percent(row.percent)}${interval(row)}, ${SAYS[row.verdict]}`;
  inner.push(svg('title', {}, document.createTextNode(text)));
  inner.push(svg('rect', { x: 0, y: y - ROW / 2, width, height: ROW, class: 'hit' }));
  if (row.interval) {
    const [a, b] = row.interval.map((v) => scale.at(v));
    inner.push(
      line(a, y, b, y, 'bar'),
      line(a, y - 3.5, a, y + 3.5, 'bar'),
      line(b, y - 3.5, b, y + 3.5, 'bar'),
    );
  }
  inner.push(mark(row.verdict, scale.at(row.percent), y));
  parts.push(
    svg('g', { class: `estimate ${row.verdict}`, 'data-row': row.id, 'data-arm': row.arm }, ...inner),
    words(
      width,
      y + 4,
      narrow ? percent(row.percent) : percent(row.percent) + interval(row),
      'end',
      'figure',
    ),
  );
  return parts;
}

function interval(row: Row): string {
  return row.interval
    ? ` [${percent(row.interval[0])}, ${percent(row.interval[1])}]`.replaceAll(' %', '')
    : '';
}

/** Lower points to the left, higher to the right, the same is a square, undecided a ring. */
function mark(verdict: Verdict, x: number, y: number): SVGElement {
  const kind = { class: `mark ${verdict}` };
  switch (verdict) {
    case 'lower':
      return svg('path', { d: `M${x - 6} ${y}l10 -5.5v11Z`, ...kind });
    case 'higher':
      return svg('path', { d: `M${x + 6} ${y}l-10 -5.5v11Z`, ...kind });
    case 'same':
      return svg('rect', { x: x - 4, y: y - 4, width: 8, height: 8, ...kind });
    case 'undecided':
      return svg('circle', { cx: x, cy: y, r: 4, ...kind });
  }
}
