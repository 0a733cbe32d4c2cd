// Bytes in flight: what the sender has sent and the peer has not ACKed, as seen at the capture
// point, with the window that the peer offers as the ceiling.

import { lowerBound, type View } from '../data/view';
import type { Layer, Plane, Spec } from './chart';
import { byteAxis, dashed, drawSteps, timeAxis, visible, windowLayer } from './marks';

const WINDOW_REACH = 2.5;

export class FlightChart implements Spec {
  readonly id = 'flight';
  readonly title = 'Bytes in flight';
  readonly layers: Layer[];
  readonly empty: string | null;
  readonly x = timeAxis;
  readonly y = byteAxis('in flight');

  constructor(private readonly view: View) {
    const n = view.flight.time.length;
    this.layers = [
      { key: 'flight', label: 'in flight', ink: 'flight', shape: 'line', count: n, on: true },
      windowLayer(view, n > 0 ? view.acks.length : 0),
    ];
    this.empty = n > 0 ? null : 'No data was sent in this direction.';
  }

  get summary(): string {
    const most = this.view.flight.value.reduce((a, b) => Math.max(a, b), 0);
    return `Bytes in flight over time, at most ${most}.`;
  }

  yRange(from: number, to: number): [number, number] {
    const { flight, acks, trace } = this.view;
    let high = 0;
    const first = Math.max(0, lowerBound(flight.time.length, (i) => flight.time[i], from) - 1);
    for (let i = first; i < flight.time.length && flight.time[i] <= to; i++)
      high = Math.max(high, flight.value[i]);
    if (high === 0) high = 1000;
    if (!this.layers[1].on) return [-high * 0.04, high * 1.08];
    let window = 0;
    const start = Math.max(0, lowerBound(acks.length, (i) => trace.time[acks[i]], from) - 1);
    for (let i = start; i < acks.length && trace.time[acks[i]] <= to; i++) {
      window = Math.max(window, trace.window[acks[i]]);
    }
    const top = window > high && window <= high * WINDOW_REACH ? window : high;
    // A little below zero, so that a line at zero is seen.
    return [-top * 0.04, top * 1.08];
  }

  draw(plane: Plane): number {
    const { flight, acks, trace, span } = this.view;
    let drawn = 0;
    if (this.layers[1].on) {
      const range = visible(acks, (r) => trace.time[r], plane);
      const steps = {
        n: acks.length,
        time: (i: number) => trace.time[acks[i]],
        value: (i: number) => trace.window[acks[i]],
      };
      drawn += dashed(plane, () => drawSteps(plane, 'window', range, steps, span[1]));
    }
    if (this.layers[0].on) {
      const n = flight.time.length;
      const time = (i: number) => flight.time[i];
      const first = Math.max(0, lowerBound(n, time, plane.from) - 1);
      const end = Math.min(n, lowerBound(n, time, plane.to) + 1);
      const steps = { n, time, value: (i: number) => flight.value[i] };
      drawn += drawSteps(plane, 'flight', [first, end], steps, span[1]);
    }
    return drawn;
  }

  private at(row: number): number {
    const { flight, trace } = this.view;
    let i = lowerBound(flight.time.length, (k) => flight.time[k], trace.time[row]);
    while (i < flight.rows.length && flight.rows[i] !== row && flight.time[i] === trace.time[row]) i++;
    return flight.rows[i] === row ? i : -1;
  }

  /** The change nearest in time: the line is the same height up to the next one anyway. */
  pick(plane: Plane, px: number): number {
    const { flight } = this.view;
    const n = flight.time.length;
    const time = plane.from + ((px - plane.left) / plane.width) * (plane.to - plane.from);
    const i = lowerBound(n, (k) => flight.time[k], time);
    const best = [i - 1, i]
      .filter((k) => k >= 0 && k < n)
      .sort((a, b) => Math.abs(flight.time[a] - time) - Math.abs(flight.time[b] - time))[0];
    if (best === undefined || Math.abs(plane.x(flight.time[best]) - px) > 40 * plane.ratio) return -1;
    return flight.rows[best];
  }

  place(row: number): [number, number] | null {
    const i = this.at(row);
    return i < 0 ? null : [this.view.flight.time[i], this.view.flight.value[i]];
  }
}
