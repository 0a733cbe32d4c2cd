// How long each ACK waited, over the segments it covers: where quick ACKs end is a step in this
// chart. The y axis is logarithmic, because 20 µs and 40 ms both matter.

import { CLASSES } from '../data/columns';
import type { AckMode, AcksSent } from '../data/model';
import { lowerBound, segmentAt, type View } from '../data/view';
import { count, micros } from '../format';
import type { Layer, Plane, Spec } from './chart';
import { label, nearest, shape, tidy, visible } from './marks';
import { type Ink, ink } from './palette';
import { DotCells } from './reduce';

const LOOKS: [Ink, Layer['shape']][] = [
  ['immediate', 'disc'],
  ['second', 'triangle'],
  ['delayed', 'square'],
  ['piggyback', 'diamond'],
  ['plain', 'cross'],
];

const DELAYED = CLASSES.indexOf('delayed');
const IMMEDIATE = CLASSES.indexOf('immediate');

/** A stretch of quick or delayed ACKs, by segments. */
interface Stretch {
  ink: Ink;
  from: number;
  to: number;
  /** Median wait, microseconds. */
  median: number;
  text: string;
}

/** Linux never arms the delayed-ACK timer for less (TCP_DELACK_MIN, HZ/25). */
const DELACK_MIN_US = 40_000;

export class WaitChart implements Spec {
  readonly id = 'wait';
  readonly title = 'Wait of each ACK';
  readonly log = true;
  readonly layers: Layer[];
  readonly empty: string | null;
  readonly x = {
    label: () => 'newest data segment that the ACK covers (ordinal)',
    tick: (value: number, step: number) => tidy(value, step),
  };
  readonly y = {
    label: () => 'wait, log scale',
    tick: (value: number) => micros(value).replace(/\.0+ /, ' '),
  };
  private readonly stretches: Stretch[];
  private readonly heights: [number, number];
  /** The axis ends here; below is the row of waits of 0. */
  private foot = 1;
  private zeros = 0;

  constructor(
    private readonly view: View,
    /** Figures of the ACKs that the peer of the data sent; absent for streams without details. */
    private readonly sent: AcksSent | null,
  ) {
    const { trace, waits } = view;
    const counts = new Array<number>(CLASSES.length).fill(0);
    for (const row of waits) counts[trace.acks.class[trace.ackRow[row]]]++;
    this.layers = CLASSES.map((name, i) => {
      const [colour, form] = LOOKS[i];
      return { key: String(i), label: name, ink: colour, shape: form, count: counts[i], on: true };
    });
    this.heights = this.allHeights();
    this.stretches = stretchesOf(view, sent?.modes ?? []);
    this.empty = waits.length > 0 ? null : 'No ACK for new data of this direction was captured.';
  }

  get summary(): string {
    const parts = this.layers.filter((l) => l.count > 0).map((l) => `${l.count} ${l.label}`);
    const first = this.sent?.first_delayed_segment;
    const stretches = this.stretches.slice(0, 8).map((s) => `${s.text}.`);
    const delayed = first ? [`First delayed: segment ${first}.`] : [];
    return [`Wait of each ACK: ${parts.join(', ')}.`, ...stretches, ...delayed].join(' ');
  }

  private segment(row: number): number {
    return this.view.trace.acks.newest[this.view.trace.ackRow[row]];
  }

  private wait(row: number): number {
    return this.view.trace.acks.waitUs[this.view.trace.ackRow[row]];
  }

  /** Where a wait stands on the axis: 0, which no logarithmic axis has, in a row of its own below it. */
  heightOf(us: number): number {
    return us > 0 ? us : this.foot / 4.5;
  }

  private on(row: number): boolean {
    return this.layers[this.view.trace.acks.class[this.view.trace.ackRow[row]]]?.on ?? false;
  }

  /** The same for every zoom: a wait keeps its height while one looks along the segments. */
  yRange(): [number, number] {
    return this.heights;
  }

  private allHeights(): [number, number] {
    let low = 1000;
    let high = 10_000;
    for (const row of this.view.waits) {
      const us = this.wait(row);
      if (us === 0) this.zeros++;
      else low = Math.min(low, us);
      high = Math.max(high, us);
    }
    this.foot = 10 ** Math.floor(Math.log10(low * 0.8));
    return [this.zeros > 0 ? this.foot / 9.5 : this.foot, roof(high)];
  }

  draw(plane: Plane): number {
    this.drawModes(plane);
    this.drawLines(plane);
    const { trace, waits } = this.view;
    const { ctx, ratio } = plane;
    const [first, end] = visible(waits, (r) => this.segment(r), plane);
    const size = (end - first > plane.width / ratio / 3 ? 1.5 : 3) * ratio;
    let drawn = 0;
    this.layers.forEach((layer, kind) => {
      if (!layer.on || layer.count === 0) return;
      ctx.fillStyle = ink(layer.ink);
      ctx.strokeStyle = ink(layer.ink);
      ctx.lineWidth = 1.3 * ratio;
      const form = size < 2 * ratio ? 'square' : layer.shape;
      const cells = new DotCells(
        plane.left,
        plane.top,
        plane.width,
        plane.height,
        Math.max(1, size),
        (x, y) => shape(ctx, form, x, y, size),
      );
      for (let i = first; i < end; i++) {
        const row = waits[i];
        if (trace.acks.class[trace.ackRow[row]] !== kind) continue;
        cells.add(plane.x(this.segment(row)), plane.y(this.heightOf(this.wait(row))));
      }
      drawn += cells.drawn;
    });
    return drawn;
  }

  /** Stretches of quick and delayed ACKs as a tinted ground with a line where they change. */
  private drawModes(plane: Plane): void {
    const { ctx, ratio } = plane;
    const right = plane.left + plane.width;
    let free = plane.left;
    this.stretches.forEach((stretch, i) => {
      const from = Math.max(plane.left, plane.x(stretch.from - 0.5));
      const to = Math.min(right, plane.x(stretch.to + 0.5));
      if (to <= from) return;
      const colour = ink(stretch.ink);
      ctx.globalAlpha = 0.08;
      ctx.fillStyle = colour;
      ctx.fillRect(from, plane.top, to - from, plane.height);
      ctx.globalAlpha = 1;
      if (i > 0 && from > plane.left) ctx.fillRect(from - ratio / 2, plane.top, 1.5 * ratio, plane.height);
      const width = ctx.measureText(stretch.text).width + 12 * ratio;
      const x = Math.max(from + 6 * ratio, free);
      if (x + width <= to) {
        label(plane, stretch.text, x, plane.top + 14 * ratio, colour, ink('page'));
        free = x + width;
      } else if (this.stretches.length === 2 && i === 0) {
        // No room above a short quick stretch: its name goes beside it, at the height of its dots.
        label(
          plane,
          stretch.text,
          to + 8 * ratio,
          plane.y(this.heightOf(stretch.median)) - 6 * ratio,
          colour,
          ink('page'),
        );
      }
    });
  }

  /** The path's share and the shortest delay of Linux's timer, for the eye to compare with. */
  private drawLines(plane: Plane): void {
    const { ctx, ratio } = plane;
    const rule = (y: number) => {
      ctx.strokeStyle = ink('faint');
      ctx.lineWidth = ratio;
      ctx.setLineDash([2 * ratio, 3 * ratio]);
      ctx.beginPath();
      ctx.moveTo(plane.left, y);
      ctx.lineTo(plane.left + plane.width, y);
      ctx.stroke();
      ctx.setLineDash([]);
    };
    const line = (us: number, text: string) => {
      const y = plane.y(us);
      rule(y);
      const x = plane.left + plane.width - ctx.measureText(text).width - 6 * ratio;
      const below = y + 16 * ratio < plane.top + plane.height;
      label(plane, text, x, y + (below ? 13 : -5) * ratio, ink('faint'), ink('page'));
    };
    if (this.zeros > 0) {
      rule(plane.y(this.foot));
      const text = `0: ${count(this.zeros)} ${this.zeros === 1 ? 'ACK' : 'ACKs'} without a wait`;
      label(plane, text, plane.left + 4 * ratio, plane.y(this.foot) + 13 * ratio, ink('faint'), ink('page'));
    }
    if (this.layers[2].count > 0) line(DELACK_MIN_US, 'shortest timer of Linux, 40 ms');
    const path = this.sent?.path_us;
    if (path) line(path, `path, ${micros(path)}`);
  }

  pick(plane: Plane, px: number, py: number): number {
    const distance = (r: number) =>
      this.on(r)
        ? Math.hypot(plane.x(this.segment(r)) - px, plane.y(this.heightOf(this.wait(r))) - py)
        : Number.POSITIVE_INFINITY;
    return nearest(this.view.waits, (r) => this.segment(r), distance, plane, px, 40 * plane.ratio).row;
  }

  place(row: number): [number, number] | null {
    const { trace, fromClient } = this.view;
    if (trace.ackRow[row] < 0 || trace.fromClient[row] === (fromClient ? 1 : 0)) return null;
    return [this.segment(row), this.heightOf(this.wait(row))];
  }

  /** x of the cursor line for a packet or a time of the other charts. */
  xOf(time: number): number {
    return segmentAt(this.view, time);
  }
}

/** Most of a decade above the largest wait, so that the names of the stretches have room. */
function roof(high: number): number {
  return 10 ** (Math.log10(high) + 0.8);
}

/** Beyond this many the stretches are tinted but not named. */
const NAMED = 200;

function stretchesOf(view: View, modes: AckMode[]): Stretch[] {
  return modes.map((mode, i) => {
    const from = mode.from_segment;
    const to = Math.max(from, (modes[i + 1]?.from_segment ?? view.segments + 1) - 1);
    const where = to > from ? `segments ${count(from)} to ${count(to)}` : `segment ${count(from)}`;
    const delayed = mode.mode === 'delayed';
    const [all, own] =
      modes.length <= NAMED ? waitsIn(view, from, to, delayed ? DELAYED : IMMEDIATE) : [[], []];
    if (delayed && all.length > 0 && own.length === 0) {
      // The receiver may delay, but each ACK was due before its timer fired: nothing waited for it.
      const median = medianOf(all, mode);
      return { ink: 'second', from, to, median, text: `none delayed: ${where}, median ${micros(median)}` };
    }
    // ACKs of other classes in the stretch say nothing about its mode.
    const median = medianOf(own, mode);
    const some =
      delayed && own.length < all.length ? `${count(own.length)} of ${count(all.length)} ACKs, ` : '';
    const text = `${mode.mode}: ${where}, ${some}median ${micros(median)}`;
    return { ink: delayed ? 'delayed' : 'immediate', from, to, median, text };
  });
}

/** Waits of the ACKs of a stretch, and of those of one class; microseconds, sorted. */
function waitsIn(view: View, from: number, to: number, kind: number): [all: number[], own: number[]] {
  const { trace, waits } = view;
  const { acks } = trace;
  const newest = (n: number) => acks.newest[trace.ackRow[waits[n]]];
  const all: number[] = [];
  const own: number[] = [];
  for (let n = lowerBound(waits.length, newest, from); n < waits.length && newest(n) <= to; n++) {
    const k = trace.ackRow[waits[n]];
    all.push(acks.waitUs[k]);
    if (acks.class[k] === kind) own.push(acks.waitUs[k]);
  }
  const up = (a: number, b: number) => a - b;
  return [all.sort(up), own.sort(up)];
}

/** Nearest rank, as everywhere in tcplab. */
function medianOf(sorted: number[], mode: AckMode): number {
  return sorted.length > 0 ? sorted[Math.ceil(sorted.length / 2) - 1] : mode.mean_us;
}
