// Curves over time in one chart: the mean of each bin as a line, and a band from its least to its most; or thin lines
// of repetitions, and their median on top.

import type { Axis, Layer, Plane, Spec } from '../charts/chart';
import { label } from '../charts/marks';
import { type Ink, ink } from '../charts/palette';
import { binsIn, type Curve } from '../data/over_time';

export interface Line {
  name: string;
  curve: Curve;
  /** The curve is the median of repetitions. */
  median: boolean;
  ink: Ink;
  /** The number of its pattern: lines of one colour differ in it. */
  dash: number;
  on: boolean;
  /** The figure of the whole line, where that is not the mean of its curve. */
  whole?: number;
}

const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
export const INKS: Ink[] = ['line-0', 'line-1', 'line-2', 'line-3', 'line-4', 'line-5', 'line-6', 'line-7'];

/** Ink and pattern of the nth line. */
export const style = (n: number): Pick<Line, 'ink' | 'dash'> => ({
  ink: INKS[n % INKS.length],
  dash: Math.floor(n / INKS.length) % DASHES.length,
});

/** Width in CSS pixels, and opacity. */
interface Pen {
  width: number;
  alpha: number;
}

const MEAN: Pen = { width: 1.4, alpha: 1 };
const MEDIAN: Pen = { width: 2.4, alpha: 1 };
/** The least length of a stroke that stands alone, CSS pixels. */
const LONE = 7;
/** The more repetitions there are, the lighter is each. */
const ofRun = (runs: number): Pen => ({ width: 0.8, alpha: Math.max(0.12, Math.min(0.4, 4.5 / runs)) });

export interface Shape {
  id: string;
  title: string;
  lines: Line[];
  y: Axis;
  log?: boolean;
  right?: { axis: Axis; factor: number };
  /** The most that a value can be; the axis begins near the least that there is, not at 0. */
  atMost?: number;
  /** A y that deserves a line of its own. */
  rule?: { at: number; words: string };
  /** The least that a logarithmic axis shows. */
  floor?: number;
  /** The y axis holds the means and 90 % of the highest repetition; it cuts off peaks above. */
  byMeans?: boolean;
  /** Gaps up to so many seconds are no gaps: what is counted comes one by one. */
  joins?: number;
  /** Room on the right side for an axis that other charts have there. */
  gutter?: boolean;
  /** Other lines that the y axis has to hold, so that charts can be compared. */
  beside?: Line[];
}

/** The highest repetition stays below this for 90 % of the time; 0 without repetitions. */
function usual({ high, runs }: Curve, first: number, end: number): number {
  const known = high.slice(first, end).filter((value) => !Number.isNaN(value));
  return runs.length > 0 ? (known.sort()[Math.floor(known.length * 0.9)] ?? 0) : 0;
}

export class CurvesSpec implements Spec {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  readonly layers: Layer[] = [];
  readonly empty = null;
  readonly log: boolean;
  readonly x: Axis;
  readonly y: Axis;
  readonly right?: { axis: Axis; factor: number };
  readonly wheelNeedsKey = true;
  readonly fine = true;
  readonly gutter: boolean;

  constructor(
    private readonly of: Shape,
    x: Axis,
  ) {
    this.id = of.id;
    this.title = of.title;
    this.log = of.log ?? false;
    this.x = x;
    this.y = of.y;
    this.right = of.right;
    this.gutter = of.gutter ?? false;
    this.summary = `${of.title} over time: ${of.lines.map((line) => line.name).join(', ')}.`;
  }

  yRange(from: number, to: number): [number, number] {
    const { atMost, floor = 1 } = this.of;
    const [least, most] = this.extremes(from, to, floor);
    if (atMost)
      return [Math.max(0, Math.floor(Math.min(least, atMost * 0.9) * 10 - 0.3) / 10), atMost * 1.02];
    if (!this.log) return most > 0 ? [0, most * 1.06] : [0, 1];
    if (most <= floor) return [floor, floor * 10];
    return [Math.max(floor, Math.min(least, most / 10)) * 0.8, most * 1.4];
  }

  /** The least and the most that the y axis has to show. */
  private extremes(from: number, to: number, floor: number): [number, number] {
    let [most, least] = [0, Number.POSITIVE_INFINITY];
    for (const { curve, on } of [...this.of.lines, ...(this.of.beside ?? [])]) {
      const [first, end] = on ? binsIn(curve, from, to) : [0, 0];
      const cut = this.of.byMeans ? usual(curve, first, end) : Number.POSITIVE_INFINITY;
      for (let i = first; i < end; i++) {
        most = Math.max(most, curve.mid[i] || 0, Math.min(curve.high[i] || 0, cut));
        const low = this.log && curve.low[i] <= floor ? curve.mid[i] : curve.low[i];
        if (low < least && (low > 0 || !this.log)) least = low;
      }
    }
    return [least, most];
  }

  draw(plane: Plane): number {
    let drawn = 0;
    const lines = this.of.lines.filter((line) => line.on);
    for (const line of lines) {
      if (line.curve.runs.length === 0) drawn += this.band(plane, line, lines.length > 5 ? 0.12 : 0.25);
      const pen = ofRun(line.curve.runs.length);
      for (const run of line.curve.runs) drawn += this.line(plane, line, run, pen);
    }
    for (const line of lines) drawn += this.line(plane, line, line.curve, line.median ? MEDIAN : MEAN);
    if (this.of.rule) this.rule(plane, this.of.rule);
    return drawn;
  }

  /** The bottom of the axis stands for all below it. */
  private height(plane: Plane, value: number): number {
    const bottom = plane.top + plane.height;
    return this.log && value <= 0 ? bottom : Math.min(plane.y(value), bottom);
  }

  private band(plane: Plane, { curve, ink: colour }: Line, alpha: number): number {
    if (curve.low === curve.mid) return 0;
    const { ctx } = plane;
    const [first, end] = binsIn(curve, plane.from, plane.to);
    ctx.fillStyle = ink(colour);
    ctx.globalAlpha = alpha;
    const x = (i: number) => plane.x((curve.first + i) * curve.bin);
    let i = first;
    while (i < end) {
      if (Number.isNaN(curve.mid[i])) {
        i++;
        continue;
      }
      const begin = i;
      ctx.beginPath();
      for (; i < end && !Number.isNaN(curve.mid[i]); i++) {
        // Never thinner than a pixel: a band that has no height here is a line.
        const y = this.height(plane, curve.high[i]);
        if (i === begin) ctx.moveTo(x(i), y);
        else ctx.lineTo(x(i), y);
        ctx.lineTo(x(i + 1), y);
      }
      for (let k = i - 1; k >= begin; k--) {
        const y = this.height(plane, curve.low[k]);
        ctx.lineTo(x(k + 1), y);
        ctx.lineTo(x(k), y);
      }
      ctx.fill();
    }
    ctx.globalAlpha = 1;
    return end - first;
  }

  private line(plane: Plane, { ink: colour, dash }: Line, curve: Curve, { width, alpha }: Pen): number {
    const { ctx, ratio } = plane;
    const [first, end] = binsIn(curve, plane.from, plane.to);
    ctx.strokeStyle = ink(colour);
    ctx.globalAlpha = alpha;
    ctx.lineWidth = width * ratio;
    ctx.lineJoin = 'round';
    ctx.setLineDash(DASHES[dash].map((n) => n * ratio));
    ctx.beginPath();
    const joins = (this.of.joins ?? 0) / curve.bin;
    let [pen, gap] = [false, 0];
    for (let i = first; i < end; i++) {
      if (Number.isNaN(curve.mid[i])) {
        if (++gap > joins) pen = false;
        continue;
      }
      gap = 0;
      const x = plane.x((curve.first + i + 0.5) * curve.bin);
      const y = this.height(plane, curve.mid[i]);
      if (pen) ctx.lineTo(x, y);
      else ctx.moveTo(x, y);
      // A bin between gaps is a stroke as long as the bin, and long enough to be seen.
      if (!pen && (i + 1 >= end || Number.isNaN(curve.mid[i + 1]))) {
        const half = Math.max(plane.x(curve.bin) - plane.x(0), LONE * ratio) / 2;
        ctx.moveTo(x - half, y);
        ctx.lineTo(x + half, y);
      }
      pen = true;
    }
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.setLineDash([]);
    return end - first;
  }

  private rule(plane: Plane, { at, words }: { at: number; words: string }): void {
    const { ctx, ratio } = plane;
    const y = plane.y(at);
    ctx.strokeStyle = ink('faint');
    ctx.lineWidth = ratio;
    ctx.setLineDash([3 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(plane.left, y);
    ctx.lineTo(plane.left + plane.width, y);
    ctx.stroke();
    ctx.setLineDash([]);
    label(plane, words, plane.left + 6 * ratio, y - 4 * ratio, ink('faint'), ink('page'));
  }

  pick(): number {
    return -1;
  }

  place(): null {
    return null;
  }
}
