// Pictures of a row: a dot for each run, before above and after below, with each arm's figure; and the interval of the
// change on one scale for the whole table.

import type { CompareRow } from '../data/compare';
import { svg } from '../dom';

const WIDTH = 220;
const HEIGHT = 30;
const EDGE = 6;
/** Of the picture of a change. */
const CHANGE = 180;

function picture(kind: string, width: number, label: string, parts: SVGElement[]): SVGElement {
  return svg('svg', { class: kind, width, height: HEIGHT, role: 'img', 'aria-label': label }, ...parts);
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
  return picture('runs', WIDTH, 'runs before and after', parts);
}

/** The interval of the change: 0 in the middle, the band around it; null: there is no change. */
export function change(row: CompareRow, reach: number, band: number): SVGElement | null {
  if (row.change_percent === null) return null;
  const x = (percent: number): number =>
    CHANGE / 2 + Math.min(1, Math.max(-1, percent / reach)) * (CHANGE / 2 - EDGE);
  const parts = [
    svg('rect', { class: 'band', x: x(-band), y: 3, width: x(band) - x(-band), height: 24 }),
    line('zero', x(0), 2, x(0), 28),
  ];
  const interval = row.interval_percent;
  if (interval) parts.push(line(`whisker ${row.class}`, x(interval[0]), 15, x(interval[1]), 15));
  const kind = `point ${interval ? '' : 'open '}${row.class}`;
  parts.push(svg('circle', { class: kind, cx: x(row.change_percent), cy: 15, r: 4 }));
  return picture('change', CHANGE, `change ${row.texts[2]} %, interval ${row.texts[3]}`, parts);
}
