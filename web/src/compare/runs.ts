// Pictures of a row: a dot for each run, before above and after below, with each arm's figure; and the interval of the
// change on one scale for the whole table.

import type { CompareRow } from '../data/compare';
import { svg } from '../dom';

const WIDTH = 220;
const HEIGHT = 30;
/** Below the runs, for the ends of their axis. */
const ENDS = 12;
const EDGE = 6;
/** Of the picture of a change. */
const CHANGE = 180;

function picture(kind: string, [width, height]: number[], label: string, parts: SVGElement[]): SVGElement {
  return svg('svg', { class: kind, width, height, role: 'img', 'aria-label': label }, ...parts);
}

const text = (x: number, y: number, anchor: string, words: string): SVGElement =>
  svg('text', { x, y, 'text-anchor': anchor }, document.createTextNode(words));

/** A number in so many digits: `1,234`, `0.5678`. */
function digits(value: number, n: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e9)) return value.toPrecision(n);
  return Number(value.toPrecision(n)).toLocaleString('en', { maximumFractionDigits: 12 });
}

/** The ends of an axis in four digits, or in as many as tell them apart. */
export function endWords(low: number, high: number): [string, string] {
  let n = 4;
  while (n < 12 && low !== high && digits(low, n) === digits(high, n)) n++;
  return [digits(low, n), digits(high, n)];
}

/** Where a change stands on the scale, -1 to 1, and whether it lies beyond. */
export function placeOf(percent: number, reach: number): { at: number; beyond: boolean } {
  const part = percent / reach;
  return { at: Math.min(1, Math.max(-1, part)), beyond: Math.abs(part) > 1 };
}

const line = (kind: string, x1: number, y1: number, x2: number, y2: number): SVGElement =>
  svg('line', { class: kind, x1, y1, x2, y2 });

/** The runs of both arms on one axis, from the smallest to the largest; null without runs. */
export function runs(row: CompareRow): SVGElement | null {
  const all = row.arms.flatMap((arm) => arm.runs.map(([value]) => value));
  const [low, high] = [Math.min(...all), Math.max(...all)];
  if (!Number.isFinite(low) || !Number.isFinite(high)) return null;
  const x = (value: number): number =>
    high > low ? EDGE + ((value - low) / (high - low)) * (WIDTH - 2 * EDGE) : WIDTH / 2;
  const parts = row.arms.flatMap((arm, i) => {
    const [kind, y] = i === 0 ? ['before', 9] : (['after', 21] as const);
    const dots = arm.runs.map(([value, words, stolen]) => {
      const title = svg('title', {}, document.createTextNode(words ? `${value}; ${words}` : `${value}`));
      return svg('circle', { class: stolen ? `${kind} stolen` : kind, cx: x(value), cy: y, r: 3 }, title);
    });
    const axis = line('axis', EDGE, y, WIDTH - EDGE, y);
    if (arm.figure === null) return [axis, ...dots];
    const at = x(Math.min(high, Math.max(low, arm.figure)));
    return [axis, ...dots, line(kind, at, y - 6, at, y + 6)];
  });
  const [first, last] = endWords(low, high);
  const ends =
    high > low
      ? [text(EDGE, HEIGHT + 9, 'start', first), text(WIDTH - EDGE, HEIGHT + 9, 'end', last)]
      : [text(WIDTH / 2, HEIGHT + 9, 'middle', first)];
  const label = `runs before and after, from ${first} to ${last}`;
  return picture('runs', [WIDTH, HEIGHT + ENDS], label, [...parts, ...ends]);
}

/** A triangle that points to what lies outside; `side` is -1 or 1. */
const arrow = (kind: string, x: number, side: number, size: number): SVGElement =>
  svg('path', { class: kind, d: `M${x + side * 5} 15L${x - side * size} ${15 - size}V${15 + size}Z` });

/** The interval of the change: 0 in the middle, the band around it; null: there is no change. */
export function change(row: CompareRow, reach: number, band: number): SVGElement | null {
  if (row.change_percent === null) return null;
  const x = (percent: number): number => CHANGE / 2 + placeOf(percent, reach).at * (CHANGE / 2 - EDGE);
  const parts = [
    svg('rect', { class: 'band', x: x(-band), y: 3, width: x(band) - x(-band), height: 24 }),
    line('zero', x(0), 2, x(0), 28),
  ];
  const interval = row.interval_percent;
  if (interval) parts.push(line(`whisker ${row.class}`, x(interval[0]), 15, x(interval[1]), 15));
  for (const end of interval ?? []) {
    if (placeOf(end, reach).beyond) parts.push(arrow(`point ${row.class}`, x(end), Math.sign(end), 4));
  }
  const kind = `point ${interval ? '' : 'open '}${row.class}`;
  const at = x(row.change_percent);
  if (placeOf(row.change_percent, reach).beyond) {
    // Beyond the scale: an arrow at its end, and how far it really is.
    const side = Math.sign(row.change_percent);
    parts.push(arrow(kind, at, side, 6));
    parts.push(text(at - side * 10, 11, side > 0 ? 'end' : 'start', `${row.texts[2]} %`));
  } else parts.push(svg('circle', { class: kind, cx: at, cy: 15, r: 4 }));
  return picture('change', [CHANGE, HEIGHT], `change ${row.texts[2]} %, interval ${row.texts[3]}`, parts);
}
