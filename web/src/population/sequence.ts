// A time-sequence graph of one connection in one arm: what the server sent, and the ACKs that came.

import type { Axis, Layer, Plane, Spec } from '../charts/chart';
import { ink } from '../charts/palette';
import { type Point, pointsOf, type Side } from '../data/population';
import { bytes, count, plural } from '../format';
import { shortTime } from './scale';

/** Letters of the points, with their marks. A longer name of what each is stands in the legend. */
const KINDS: [string, Omit<Layer, 'count' | 'on'>][] = [
  ['d', { key: 'd', label: 'data', ink: 'data', shape: 'bar' }],
  ['f', { key: 'f', label: 'fast retransmission', ink: 'fast', shape: 'triangle' }],
  ['r', { key: 'r', label: 'timeout', ink: 'rto', shape: 'cross' }],
  ['t', { key: 't', label: 'probe or timeout of a single segment', ink: 'tlp', shape: 'diamond' }],
  ['x', { key: 'x', label: 'other retransmission', ink: 'retrans', shape: 'square' }],
  ['a', { key: 'a', label: 'ACK', ink: 'ack', shape: 'line' }],
];

export interface Extent {
  time: [number, number];
  seq: [number, number];
}

/** Both sides' ranges, so that the graphs can be compared. */
export function extent(sides: Side[]): Extent {
  let time = 0;
  let seq = 1;
  for (const side of sides) {
    for (const p of pointsOf(side.points)) {
      time = Math.max(time, p.time);
      seq = Math.max(seq, p.seq + p.len);
    }
  }
  const pad = Math.max(time * 0.02, 1e-4);
  return { time: [-pad, time + pad], seq: [-seq * 0.03, seq * 1.04] };
}

const times: Axis = {
  label: () => 'seconds',
  tick: (value, step) => value.toFixed(Math.min(6, Math.max(0, Math.ceil(-Math.log10(step))))),
};

const sizes: Axis = { label: () => 'sequence', tick: (value) => (value < 0 ? '' : bytes(value)) };

export class SequenceSpec implements Spec {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  readonly layers: Layer[];
  readonly empty: string | null;
  readonly x = times;
  readonly y = sizes;
  readonly points: Point[];

  constructor(
    side: Side,
    place: 'baseline' | 'arm',
    private readonly extent: Extent,
  ) {
    this.points = pointsOf(side.points);
    const total = side.responses_us.reduce((a, b) => a + b, 0);
    this.id = `sequence-${place}`;
    this.title = `${side.arm}${place === 'baseline' ? ' (baseline)' : ''}`;
    this.layers = KINDS.map(([letter, layer]) => ({
      ...layer,
      count: this.points.reduce((n, p) => n + Number(p.kind === letter), 0),
      on: true,
    }));
    const kinds = this.layers.filter((l) => l.count > 0).map((l) => `${l.label}: ${count(l.count)}`);
    this.summary =
      `Time-sequence graph of arm ${side.arm}. ${kinds.join(', ')}. ` +
      `${plural(side.responses_us.length, 'response')} in ${shortTime(total)} together.`;
    this.empty = this.points.length === 0 ? 'The connection carried no data in this arm.' : null;
  }

  yRange(): [number, number] {
    return this.extent.seq;
  }

  draw(plane: Plane): number {
    const shown = new Set(this.layers.filter((l) => l.on).map((l) => l.key));
    let drawn = 0;
    if (shown.has('a')) drawn += this.drawAcks(plane);
    for (const point of this.points) {
      if (point.kind === 'a' || !shown.has(point.kind)) continue;
      if (point.time < plane.from || point.time > plane.to) continue;
      this.drawSegment(plane, point);
      drawn++;
    }
    return drawn;
  }

  /** The edge of what is acknowledged, as steps. */
  private drawAcks(plane: Plane): number {
    const { ctx } = plane;
    ctx.strokeStyle = ink('ack');
    ctx.lineWidth = 1.2 * plane.ratio;
    ctx.beginPath();
    let edge = -1;
    for (const point of this.points) {
      if (point.kind !== 'a' || point.seq < edge) continue;
      const [x, y] = [plane.x(point.time), plane.y(point.seq)];
      if (edge < 0) ctx.moveTo(x, y);
      else {
        ctx.lineTo(x, plane.y(edge));
        ctx.lineTo(x, y);
      }
      edge = point.seq;
    }
    ctx.stroke();
    return edge < 0 ? 0 : 1;
  }

  private drawSegment(plane: Plane, point: Point): void {
    const { ctx, ratio } = plane;
    const layer = KINDS.find(([letter]) => letter === point.kind)?.[1];
    const x = plane.x(point.time);
    const [low, high] = [plane.y(point.seq), plane.y(point.seq + point.len)];
    ctx.strokeStyle = ink(layer?.ink ?? 'data');
    ctx.fillStyle = ctx.strokeStyle;
    ctx.lineWidth = 2 * ratio;
    ctx.beginPath();
    ctx.moveTo(x, low);
    ctx.lineTo(x, Math.min(high, low - 2 * ratio));
    ctx.stroke();
    const s = 4.5 * ratio;
    const y = (low + high) / 2;
    ctx.beginPath();
    switch (layer?.shape) {
      case 'triangle':
        ctx.moveTo(x, y - s);
        ctx.lineTo(x + s, y + s);
        ctx.lineTo(x - s, y + s);
        ctx.fill();
        break;
      case 'diamond':
        ctx.moveTo(x, y - s);
        ctx.lineTo(x + s, y);
        ctx.lineTo(x, y + s);
        ctx.lineTo(x - s, y);
        ctx.fill();
        break;
      case 'square':
        ctx.fillRect(x - s * 0.8, y - s * 0.8, s * 1.6, s * 1.6);
        break;
      case 'cross':
        ctx.moveTo(x - s, y - s);
        ctx.lineTo(x + s, y + s);
        ctx.moveTo(x + s, y - s);
        ctx.lineTo(x - s, y + s);
        ctx.stroke();
        break;
    }
  }

  pick(plane: Plane, px: number, py: number): number {
    let [best, least] = [-1, (24 * plane.ratio) ** 2];
    this.points.forEach((p, i) => {
      const far = (plane.x(p.time) - px) ** 2 + (plane.y(p.seq + p.len / 2) - py) ** 2;
      if (far < least) [best, least] = [i, far];
    });
    return best;
  }

  place(row: number): [number, number] | null {
    const p = this.points[row];
    return p ? [p.time, p.seq + p.len / 2] : null;
  }

  /** A point in words. */
  words(row: number): string {
    const p = this.points[row];
    if (!p) return '';
    const what = KINDS.find(([letter]) => letter === p.kind)?.[1].label ?? '';
    const where = p.kind === 'a' ? count(p.seq) : `${count(p.seq)} to ${count(p.seq + p.len)}`;
    return `${p.time.toFixed(6)} s: ${what} ${where}`;
  }
}
