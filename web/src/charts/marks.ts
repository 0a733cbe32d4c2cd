// Small shapes and helpers that the charts share.

import { lowerBound, type View } from '../data/view';
import { byteUnit, decimals, rateUnit, timeUnit } from '../format';
import type { Axis, Layer, Plane } from './chart';
import { type Ink, ink } from './palette';
import { StepColumns } from './reduce';

/** Fills a shape around a point; `size` is its half width. */
export function shape(
  ctx: CanvasRenderingContext2D,
  kind: Layer['shape'],
  x: number,
  y: number,
  size: number,
): void {
  switch (kind) {
    case 'disc':
      ctx.beginPath();
      ctx.arc(x, y, size, 0, 2 * Math.PI);
      ctx.fill();
      break;
    case 'ring':
      ctx.beginPath();
      ctx.arc(x, y, size, 0, 2 * Math.PI);
      ctx.stroke();
      break;
    case 'triangle':
      ctx.beginPath();
      ctx.moveTo(x, y - size * 1.2);
      ctx.lineTo(x + size * 1.15, y + size);
      ctx.lineTo(x - size * 1.15, y + size);
      ctx.fill();
      break;
    case 'diamond':
      ctx.beginPath();
      ctx.moveTo(x, y - size * 1.35);
      ctx.lineTo(x + size * 1.35, y);
      ctx.lineTo(x, y + size * 1.35);
      ctx.lineTo(x - size * 1.35, y);
      ctx.fill();
      break;
    case 'cross':
      ctx.beginPath();
      ctx.moveTo(x - size, y - size);
      ctx.lineTo(x + size, y + size);
      ctx.moveTo(x + size, y - size);
      ctx.lineTo(x - size, y + size);
      ctx.stroke();
      break;
    default:
      ctx.fillRect(x - size, y - size, 2 * size, 2 * size);
  }
}

/** The part of `rows` (sorted by `key`) inside the visible range, with one more on each side. */
export function visible(rows: Uint32Array, key: (row: number) => number, plane: Plane): [number, number] {
  const at = (i: number) => key(rows[i]);
  const first = lowerBound(rows.length, at, plane.from);
  const end = lowerBound(rows.length, at, plane.to);
  return [Math.max(0, first - 1), Math.min(rows.length, end + 1)];
}

/** Points of a line in steps: `n` of them, by time. */
export interface Steps {
  n: number;
  time(i: number): number;
  value(i: number): number;
}

/** Draws the steps from `first` to `end`; the last one goes on until the time `until`. */
export function drawSteps(
  plane: Plane,
  colour: Ink,
  [first, end]: [number, number],
  steps: Steps,
  until: number,
): number {
  const { ctx } = plane;
  ctx.strokeStyle = ink(colour);
  ctx.lineWidth = plane.ratio;
  ctx.beginPath();
  const columns = new StepColumns((x, y, start) => (start ? ctx.moveTo(x, y) : ctx.lineTo(x, y)));
  for (let i = first; i < end; i++) columns.add(plane.x(steps.time(i)), plane.y(steps.value(i)));
  if (end === steps.n && end > first) columns.finish(Math.min(plane.x(until), plane.left + plane.width));
  else columns.flush();
  ctx.stroke();
  return columns.drawn;
}

/** The line of the peer's window. Without the scale it is no fact: off until a reader asks for it. */
export function windowLayer(view: View, count: number): Layer {
  const { windowUnscaled } = view;
  const name = windowUnscaled ? 'window (scale unknown: a lower bound)' : 'window';
  return { key: 'window', label: name, ink: 'window', shape: 'dash', count, on: !windowUnscaled };
}

/** Draws with broken lines. */
export function dashed(plane: Plane, draw: () => number): number {
  plane.ctx.setLineDash([4 * plane.ratio, 3 * plane.ratio]);
  const drawn = draw();
  plane.ctx.setLineDash([]);
  return drawn;
}

/** The index in `rows` nearest to a point, at most `reach` CSS pixels away; -1 for none. */
export function nearest(
  rows: Uint32Array,
  key: (row: number) => number,
  distance: (row: number) => number,
  plane: Plane,
  px: number,
  reach: number,
): { row: number; distance: number } {
  const span = plane.to - plane.from;
  const value = (p: number) => plane.from + ((p - plane.left) / plane.width) * span;
  const at = (i: number) => key(rows[i]);
  const first = lowerBound(rows.length, at, value(px - reach));
  const end = lowerBound(rows.length, at, value(px + reach));
  let best = { row: -1, distance: reach };
  for (let i = first; i < end; i++) {
    const d = distance(rows[i]);
    if (d <= best.distance) best = { row: rows[i], distance: d };
  }
  return best;
}

/** An axis whose unit follows the largest value. */
const scaled = (what: string, unit: (max: number) => { name: string; size: number }): Axis => ({
  label: (max) => `${what} (${unit(max).name})`,
  tick: (value, step, max) => {
    const { size } = unit(max);
    return tidy(value / size, step / size);
  },
});

export const timeAxis = scaled('time since the first packet', timeUnit);
export const byteAxis = (what: string) => scaled(what, byteUnit);
export const durationAxis = (what: string) => scaled(what, timeUnit);
export const rateAxis = (what: string) => scaled(what, rateUnit);

/** A tick with as many decimals as its step needs, and commas in the thousands. */
export function tidy(value: number, step: number): string {
  const [whole, fraction] = value.toFixed(decimals(step)).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction ? `${grouped}.${fraction}` : grouped;
}

/** Draws text on a patch of the page's colour, so that it stays readable over marks. */
export function label(plane: Plane, text: string, x: number, y: number, colour: string, page: string): void {
  const { ctx, ratio } = plane;
  const width = ctx.measureText(text).width;
  ctx.fillStyle = page;
  ctx.globalAlpha = 0.82;
  ctx.fillRect(x - 3 * ratio, y - 10 * ratio, width + 6 * ratio, 14 * ratio);
  ctx.globalAlpha = 1;
  ctx.fillStyle = colour;
  ctx.fillText(text, x, y);
}

/** Boxes that have text: a label that would lie on another one is left out. */
export class Room {
  private readonly taken: [x: number, y: number, width: number, height: number][] = [];

  /** Takes a box if it is free. */
  take(x: number, y: number, width: number, height: number): boolean {
    const on = this.taken.some(
      ([a, b, wide, high]) => x < a + wide && a < x + width && y < b + high && b < y + height,
    );
    if (!on) this.taken.push([x, y, width, height]);
    return !on;
  }
}
