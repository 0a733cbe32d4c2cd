// From data to its ACK at the capture point, one dot for each ACK that gives a sample (Karn's rule applied). It is the
// path's round trip only where the capture was taken at the data's sender and the ACK was sent at once.

import type { View } from '../data/view';
import { lowerBound } from '../data/view';
import type { Layer, Plane, Spec } from './chart';
import { durationAxis, nearest, shape, timeAxis, visible } from './marks';
import { ink } from './palette';
import { DotCells } from './reduce';

export class RttChart implements Spec {
  readonly id = 'rtt';
  readonly title = 'From data to its ACK, at the capture point';
  readonly layers: Layer[];
  readonly empty: string | null;
  readonly x = timeAxis;
  readonly y = durationAxis('time');

  constructor(private readonly view: View) {
    const n = view.rtts.length;
    this.layers = [{ key: 'rtt', label: 'sample', ink: 'rtt', shape: 'disc', count: n, on: true }];
    this.empty =
      n > 0 ? null : 'No sample: no ACK covers data that was sent exactly once and seen by this capture.';
  }

  get summary(): string {
    return `Time from data to its ACK at the capture point: ${this.view.rtts.length} samples.`;
  }

  private rtt(row: number): number {
    return this.view.trace.rttUs[row] / 1e6;
  }

  yRange(from: number, to: number): [number, number] {
    const { trace, rtts } = this.view;
    let high = 0;
    const first = lowerBound(rtts.length, (i) => trace.time[rtts[i]], from);
    for (let i = first; i < rtts.length && trace.time[rtts[i]] <= to; i++)
      high = Math.max(high, this.rtt(rtts[i]));
    // A little below zero, so that a dot at zero is seen whole.
    return high > 0 ? [-high * 0.05, high * 1.08] : [-5e-5, 1e-3];
  }

  draw(plane: Plane): number {
    if (!this.layers[0].on) return 0;
    const { trace, rtts } = this.view;
    const { ctx, ratio } = plane;
    const [first, end] = visible(rtts, (r) => trace.time[r], plane);
    const size = (end - first > plane.width / ratio / 3 ? 1.2 : 2.4) * ratio;
    ctx.fillStyle = ink('rtt');
    const form = size < 2 * ratio ? 'square' : 'disc';
    const cells = new DotCells(plane.left, plane.top, plane.width, plane.height, Math.max(1, size), (x, y) =>
      shape(ctx, form, x, y, size),
    );
    for (let i = first; i < end; i++) cells.add(plane.x(trace.time[rtts[i]]), plane.y(this.rtt(rtts[i])));
    return cells.drawn;
  }

  pick(plane: Plane, px: number, py: number): number {
    const { trace, rtts } = this.view;
    const distance = (r: number) => Math.hypot(plane.x(trace.time[r]) - px, plane.y(this.rtt(r)) - py);
    return nearest(rtts, (r) => trace.time[r], distance, plane, px, 40 * plane.ratio).row;
  }

  place(row: number): [number, number] | null {
    const { trace, fromClient } = this.view;
    if (Number.isNaN(trace.rttUs[row]) || trace.fromClient[row] === (fromClient ? 1 : 0)) return null;
    return [trace.time[row], this.rtt(row)];
  }
}
