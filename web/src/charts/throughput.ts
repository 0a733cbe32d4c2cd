// Throughput over time: payload as it passes the capture, in bins whose width follows the zoom. Goodput counts each byte
// once; where the capture has no data of this direction the ACKs tell what arrived.

import { lowerBound, type View } from '../data/view';
import { micros } from '../format';
import type { Layer, Plane, Spec } from './chart';
import { dashed, drawSteps, label, rateAxis, timeAxis } from './marks';
import { ink } from './palette';

/** Bins in the visible range, at most; a bin is never below a millisecond, where single packets look like rates. */
const BINS = 120;
const SMALLEST = 1e-3;
/** The text in the corner stands above the highest step. */
const HEADROOM = 1.3;

/** The smallest of 1, 2, 5 times a power of ten that gives at most `BINS` bins, seconds. */
export function binWidth(range: number): number {
  const least = Math.max(SMALLEST, range / BINS);
  const power = 10 ** Math.floor(Math.log10(least) + 1e-9);
  return [1, 2, 5, 10].map((m) => m * power).find((w) => w >= least * (1 - 1e-9)) ?? 10 * power;
}

/** Bytes up to each time. */
export interface Sums {
  time: Float64Array;
  bytes: Float64Array;
}

/** Bits per second in `[from, from + width)`. */
export function rateOf(sums: Sums, from: number, width: number): number {
  const before = (t: number) => {
    const i = lowerBound(sums.time.length, (k) => sums.time[k], t);
    return i === 0 ? 0 : sums.bytes[i - 1];
  };
  return ((before(from + width) - before(from)) * 8) / width;
}

/** The bytes that passed so far. A repeat whose original was lost before the capture is new here. */
class Seen {
  /** What is below `high` and was not seen, rising. */
  private readonly holes: [from: number, to: number][] = [];
  private high = 0;

  /** Takes `[from, to)` and tells how many bytes of it are new. */
  add(from: number, to: number): number {
    let fresh = Math.max(0, to - Math.max(this.high, from));
    if (from > this.high) this.holes.push([this.high, from]);
    this.high = Math.max(this.high, to);
    let i = lowerBound(this.holes.length, (k) => this.holes[k][1], from + 1);
    while (i < this.holes.length && this.holes[i][0] < to) {
      const [a, b] = this.holes[i];
      const left = Math.max(a, from);
      const right = Math.min(b, to);
      fresh += right - left;
      const rest: [number, number][] = [];
      if (a < left) rest.push([a, left]);
      if (right < b) rest.push([right, b]);
      this.holes.splice(i, 1, ...rest);
      i += rest.length;
    }
    return fresh;
  }
}

/** Payload sent for the first time, all payload, and what the ACKs cover. */
export function sumsOf(view: View): { fresh: Sums; sent: Sums; acked: Sums } {
  const { trace, acks, ackLine } = view;
  const rows = view.data.filter((r) => trace.len[r] > 0);
  const time = Float64Array.from(rows, (r) => trace.time[r]);
  const fresh = new Float64Array(rows.length);
  const sent = new Float64Array(rows.length);
  const seen = new Seen();
  let [once, all] = [0, 0];
  rows.forEach((r, i) => {
    once += seen.add(trace.seq[r], trace.seq[r] + trace.len[r]);
    all += trace.len[r];
    fresh[i] = once;
    sent[i] = all;
  });
  const base = ackLine.find((a) => a > 0) ?? 0;
  return {
    fresh: { time, bytes: fresh },
    sent: { time, bytes: sent },
    acked: {
      time: Float64Array.from(acks, (r) => trace.time[r]),
      bytes: ackLine.map((a) => Math.max(0, a - base)),
    },
  };
}

export class ThroughputChart implements Spec {
  readonly id = 'throughput';
  readonly title = 'Throughput';
  readonly layers: Layer[];
  readonly empty: string | null;
  readonly x = timeAxis;
  readonly y = rateAxis('rate');
  private readonly main: Sums;
  private readonly sent: Sums;
  private bin = SMALLEST;

  constructor(private readonly view: View) {
    const { fresh, sent, acked } = sumsOf(view);
    const data = fresh.time.length > 0;
    const last = (s: Sums) => s.bytes[s.bytes.length - 1] ?? 0;
    const repeats = data && last(sent) > last(fresh);
    this.main = data ? fresh : acked;
    this.sent = sent;
    const any = last(this.main) > 0;
    this.layers = [
      {
        key: 'goodput',
        label: data ? 'goodput' : 'acknowledged (no data in this capture)',
        ink: 'goodput',
        shape: 'line',
        count: any ? 1 : 0,
        on: true,
      },
      { key: 'sent', label: 'with repeats', ink: 'retrans', shape: 'dash', count: repeats ? 1 : 0, on: true },
    ];
    this.empty = any ? null : 'No payload of this direction was captured, and no ACK for any.';
  }

  get summary(): string {
    const { span } = this.view;
    const whole = rateOf(this.main, span[0], span[1] - span[0] + 1e-9);
    return `Throughput over time: ${this.layers[0].label}, ${Math.round(whole)} bit/s from first to last packet.`;
  }

  private repeats(): boolean {
    return this.layers[1].on && this.layers[1].count > 0;
  }

  /** First bin and number of bins that touch a range, inside the stream's life. */
  private bins(from: number, to: number): [first: number, n: number] {
    const { span } = this.view;
    this.bin = binWidth(to - from);
    const first = Math.floor(Math.max(from, span[0]) / this.bin);
    const end = Math.ceil(Math.min(to, span[1]) / this.bin + 1e-9);
    return [first, Math.max(1, end - first)];
  }

  yRange(from: number, to: number): [number, number] {
    const [first, n] = this.bins(from, to);
    let high = 0;
    const sums = this.repeats() ? this.sent : this.main;
    for (let i = 0; i < n; i++) high = Math.max(high, rateOf(sums, (first + i) * this.bin, this.bin));
    return high > 0 ? [-high * 0.04, high * HEADROOM] : [-40, 1000];
  }

  draw(plane: Plane): number {
    const [first, n] = this.bins(plane.from, plane.to);
    const line = (sums: Sums, colour: 'goodput' | 'retrans') => {
      const steps = {
        n,
        time: (i: number) => (first + i) * this.bin,
        value: (i: number) => rateOf(sums, (first + i) * this.bin, this.bin),
      };
      return drawSteps(plane, colour, [0, n], steps, (first + n) * this.bin);
    };
    let drawn = 0;
    if (this.repeats()) drawn += dashed(plane, () => line(this.sent, 'retrans'));
    if (this.layers[0].on) drawn += line(this.main, 'goodput');
    const text = `each step is ${micros(this.bin * 1e6).replace(/\.0+ /, ' ')}`;
    const x = plane.left + plane.width - plane.ctx.measureText(text).width - 6 * plane.ratio;
    label(plane, text, x, plane.top + 12 * plane.ratio, ink('faint'), ink('page'));
    return drawn;
  }

  /** The packet nearest in time that carries data. */
  pick(plane: Plane, px: number): number {
    const { trace, data } = this.view;
    const time = plane.from + ((px - plane.left) / plane.width) * (plane.to - plane.from);
    const i = lowerBound(data.length, (k) => trace.time[data[k]], time);
    const best = [i - 1, i]
      .filter((k) => k >= 0 && k < data.length)
      .sort((a, b) => Math.abs(trace.time[data[a]] - time) - Math.abs(trace.time[data[b]] - time))[0];
    if (best === undefined || Math.abs(plane.x(trace.time[data[best]]) - px) > 40 * plane.ratio) return -1;
    return data[best];
  }

  place(row: number): [number, number] | null {
    const { trace, fromClient } = this.view;
    if (trace.len[row] === 0 || trace.fromClient[row] !== (fromClient ? 1 : 0)) return null;
    const from = Math.floor(trace.time[row] / this.bin) * this.bin;
    return [trace.time[row], rateOf(this.main, from, this.bin)];
  }
}
