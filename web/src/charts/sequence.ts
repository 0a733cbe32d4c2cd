// The time-sequence graph, in the manner of tcptrace: each data segment a vertical bar from its
// first to its last byte, the ACK line below, the window line above, SACK blocks between.

import { KIND } from '../data/columns';
import { lowerBound, seqEnd, type View } from '../data/view';
import type { Layer, Plane, Spec } from './chart';
import {
  byteAxis,
  dashed,
  drawSteps,
  label,
  nearest,
  Room,
  shape,
  timeAxis,
  visible,
  windowLayer,
} from './marks';
import { type Ink, ink } from './palette';
import { BarColumns, DotCells } from './reduce';

/** Kinds of bars: key, name, colour, kinds of segments, letter for close views. */
const BARS: [string, string, Ink, number[], string][] = [
  ['data', 'data', 'data', [KIND.ack, KIND.data], ''],
  ['probe', 'probe, keep-alive', 'probe', [KIND.keepAlive, KIND.probe], 'P'],
  ['order', 'out of order', 'order', [KIND.outOfOrder], 'O'],
  ['retrans', 'retransmission', 'retrans', [KIND.other], 'R'],
  ['fast', 'fast retransmit', 'fast', [KIND.fast], 'F'],
  ['tlp', 'probe or timeout of a single segment', 'tlp', [KIND.tlp], 'TLP'],
  ['rto', 'timeout (RTO)', 'rto', [KIND.rto], 'RTO'],
];

const SYN = 0x002;
const RST = 0x004;

/** The window line widens the y range only while it is this many data heights away. */
const WINDOW_REACH = 2.5;

export function sequenceSpec(view: View): Spec {
  return new SequenceChart(view);
}

class SequenceChart implements Spec {
  readonly id = 'sequence';
  readonly title = 'Time and sequence';
  readonly layers: Layer[];
  readonly empty: string | null;
  readonly x = timeAxis;
  readonly y = byteAxis('sequence');
  private readonly keyOfKind: string[] = [];
  /** Rows of `view.data` for each kind of bar, by time. */
  private readonly rowsOfKey = new Map<string, Uint32Array>();
  private zeros: Uint32Array | undefined;
  private rsts: Uint32Array | undefined;

  constructor(private readonly view: View) {
    const { trace, data, acks } = view;
    for (const [key, , , kinds] of BARS) {
      for (const kind of kinds) this.keyOfKind[kind] = key;
      this.rowsOfKey.set(
        key,
        data.filter((row) => kinds.includes(trace.kind[row])),
      );
    }
    const spurious = data.reduce((n, row) => n + trace.spurious[row], 0);
    const sacks = acks.reduce((n, r) => n + trace.sackFrom[r + 1] - trace.sackFrom[r], 0);
    this.layers = [
      ...BARS.map(([key, name, colour]) => layer(key, name, colour, 'bar', this.counted(key))),
      layer('spurious', 'spurious', 'text', 'ring', spurious),
      layer('ack', 'ACK', 'ack', 'line', acks.length),
      windowLayer(view, acks.length),
      layer('sack', 'SACK', 'sack', 'bar', sacks),
      layer('zero', 'zero window', 'rto', 'diamond', this.zeroWindows().length),
      layer('reset', 'RST', 'rto', 'cross', this.resets().length),
    ];
    this.empty =
      data.length + acks.length > 0
        ? null
        : 'No packet of this direction carries data, SYN or FIN, and none of the other acknowledges any.';
  }

  get summary(): string {
    return `Time-sequence graph: ${this.layers
      .filter((l) => l.count > 0)
      .map((l) => `${l.count} ${l.label}`)
      .join(', ')}.`;
  }

  /** Bars that the legend counts: SYN and FIN are drawn like data, but carry none. */
  private counted(key: string): number {
    const rows = this.rowsOfKey.get(key) ?? [];
    return key === 'data' ? rows.filter((row) => this.view.trace.len[row] > 0).length : rows.length;
  }

  private on(key: string): boolean {
    const any = (l: Layer) => l.count > 0 || (this.rowsOfKey.get(key)?.length ?? 0) > 0;
    return this.layers.some((l) => l.key === key && l.on && any(l));
  }

  yRange(from: number, to: number): [number, number] {
    const { trace, data, acks, ackLine } = this.view;
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    const put = (v: number) => {
      low = Math.min(low, v);
      high = Math.max(high, v);
    };
    const first = lowerBound(data.length, (i) => trace.time[data[i]], from);
    for (let i = first; i < data.length && trace.time[data[i]] <= to; i++) {
      put(trace.seq[data[i]]);
      put(seqEnd(trace, data[i]));
    }
    let edge = Number.NEGATIVE_INFINITY;
    // The ACK line comes in from the left, so the last ACK before the range counts too.
    const start = Math.max(0, lowerBound(acks.length, (i) => trace.time[acks[i]], from) - 1);
    for (let i = start; i < acks.length && trace.time[acks[i]] <= to; i++) {
      put(ackLine[i]);
      edge = Math.max(edge, trace.ack[acks[i]] + trace.window[acks[i]]);
    }
    if (!(high >= low)) return [0, 1];
    if (this.on('window') && edge > high && edge - low <= (high - low) * WINDOW_REACH) high = edge;
    const pad = Math.max((high - low) * 0.04, 1);
    // Room for the letters above the highest bar.
    return [low - pad, high + 2 * pad];
  }

  draw(plane: Plane): number {
    let drawn = 0;
    if (this.on('window')) drawn += this.drawWindow(plane);
    if (this.on('ack')) drawn += this.drawAcks(plane);
    if (this.on('sack')) drawn += this.drawSack(plane);
    drawn += this.drawBars(plane);
    drawn += this.drawMarks(plane, 'zero', 'diamond', this.zeroWindows());
    return drawn + this.drawMarks(plane, 'reset', 'cross', this.resets());
  }

  /** ACKs that close the window. */
  private zeroWindows(): Uint32Array {
    const { trace, acks } = this.view;
    this.zeros ??= acks.filter((r) => trace.window[r] === 0 && !(trace.flags[r] & (RST | SYN)));
    return this.zeros;
  }

  /** RSTs of both sides; those without an ACK number too. */
  private resets(): Uint32Array {
    const { trace } = this.view;
    this.rsts ??= Uint32Array.from({ length: trace.rows }, (_, i) => i).filter((r) => trace.flags[r] & RST);
    return this.rsts;
  }

  private drawMarks(plane: Plane, key: string, form: Layer['shape'], rows: Uint32Array): number {
    if (!this.on(key)) return 0;
    const { ctx, ratio } = plane;
    const { trace } = this.view;
    ctx.fillStyle = ink('rto');
    ctx.strokeStyle = ink('rto');
    ctx.lineWidth = 1.5 * ratio;
    const size = 3.5 * ratio;
    const cells = new DotCells(plane.left, plane.top, plane.width, plane.height, size, (x, y) =>
      shape(ctx, form, x, y, size),
    );
    for (const row of rows) {
      const place = this.place(row);
      if (place) cells.add(plane.x(trace.time[row]), plane.y(place[1]));
    }
    return cells.drawn;
  }

  private line(plane: Plane, colour: Ink, value: (i: number) => number): number {
    const { trace, acks, span } = this.view;
    const range = visible(acks, (r) => trace.time[r], plane);
    const steps = { n: acks.length, time: (i: number) => trace.time[acks[i]], value };
    return drawSteps(plane, colour, range, steps, span[1]);
  }

  private drawWindow(plane: Plane): number {
    const { trace, acks } = this.view;
    const edge = (i: number) => trace.ack[acks[i]] + trace.window[acks[i]];
    return dashed(plane, () => this.line(plane, 'window', edge));
  }

  /** The line, with a tick for each ACK that has room: ticks that do not rise are duplicates. */
  private drawAcks(plane: Plane): number {
    const { ctx, ratio } = plane;
    const { trace, acks, ackLine } = this.view;
    const n = this.line(plane, 'ack', (i) => ackLine[i]);
    const [first, end] = visible(acks, (r) => trace.time[r], plane);
    ctx.fillStyle = ink('ack');
    const x = (i: number) => plane.x(trace.time[acks[i]]);
    const room = 5 * ratio;
    let ticks = 0;
    for (let i = first; i < end; i++) {
      const alone =
        (i === 0 || x(i) - x(i - 1) >= room) && (i + 1 === acks.length || x(i + 1) - x(i) >= room);
      if (!alone) continue;
      ticks++;
      shape(ctx, 'disc', x(i), plane.y(ackLine[i]), 2.2 * ratio);
    }
    return n + ticks;
  }

  private drawSack(plane: Plane): number {
    const { ctx, ratio } = plane;
    const { trace, acks } = this.view;
    const width = Math.max(1, Math.round(1.5 * ratio));
    ctx.fillStyle = ink('sack');
    const bars = new BarColumns((x, top, bottom) =>
      ctx.fillRect(x, top, width, Math.max(ratio, bottom - top)),
    );
    const [first, end] = visible(acks, (r) => trace.time[r], plane);
    for (let i = first; i < end; i++) {
      const row = acks[i];
      for (let k = trace.sackFrom[row]; k < trace.sackFrom[row + 1]; k++) {
        const { sackEdges } = trace;
        bars.add(plane.x(trace.time[row]), plane.y(sackEdges[2 * k]), plane.y(sackEdges[2 * k + 1]));
      }
    }
    bars.flush();
    return bars.drawn;
  }

  private drawBars(plane: Plane): number {
    const { ctx, ratio } = plane;
    const { trace, data } = this.view;
    const [first, end] = visible(data, (r) => trace.time[r], plane);
    const close = end - first < plane.width / ratio / 7;
    let drawn = 0;
    const room = new Room();
    for (const [key, , colour, , letters] of BARS) {
      if (!this.on(key)) continue;
      const again = key !== 'data';
      const half = (again ? 1.5 : close ? 1 : 0.5) * ratio;
      const cap = close ? 3 * ratio : 0;
      const text = letters && close ? letters : '';
      ctx.fillStyle = ink(colour);
      const bars = new BarColumns((x, top, bottom) => {
        const height = Math.max((again ? 3 : 2) * ratio, bottom - top);
        ctx.fillRect(x - half, top, 2 * half, height);
        if (cap > 0 && height > 4 * ratio) {
          ctx.fillRect(x - cap, top, 2 * cap, ratio);
          ctx.fillRect(x - cap, top + height - ratio, 2 * cap, ratio);
        }
        if (text) {
          const wide = ctx.measureText(text).width + 4 * ratio;
          const beside = x + wide < plane.left + plane.width ? x + 4 * ratio : x - wide;
          const y = Math.max(top - 2 * ratio, plane.top + 10 * ratio);
          if (room.take(beside, y - 10 * ratio, wide, 11 * ratio)) ctx.fillText(text, beside, y);
        }
      });
      const rows = this.rowsOfKey.get(key) ?? new Uint32Array();
      const [from, to] = visible(rows, (r) => trace.time[r], plane);
      for (let i = from; i < to; i++) {
        const row = rows[i];
        bars.add(plane.x(trace.time[row]), plane.y(trace.seq[row]), plane.y(seqEnd(trace, row)));
      }
      bars.flush();
      drawn += bars.drawn;
    }
    return drawn + (this.on('spurious') ? this.drawSpurious(plane, first, end) : 0);
  }

  private drawSpurious(plane: Plane, first: number, end: number): number {
    const { ctx, ratio } = plane;
    const { trace, data } = this.view;
    ctx.strokeStyle = ink('text');
    ctx.lineWidth = 1.2 * ratio;
    const rings = new BarColumns((x, top) => shape(ctx, 'ring', x, top - 5 * ratio, 3.5 * ratio));
    let named = false;
    for (let i = first; i < end; i++) {
      const row = data[i];
      if (!trace.spurious[row]) continue;
      const x = plane.x(trace.time[row]);
      const y = plane.y(seqEnd(trace, row));
      rings.add(x, y, y);
      if (!named && end - first < 60 && x > plane.left) {
        label(plane, 'spurious', x + 8 * ratio, y - 2 * ratio, ink('text'), ink('page'));
        named = true;
      }
    }
    rings.flush();
    return rings.drawn;
  }

  pick(plane: Plane, px: number, py: number): number {
    const { trace, data, acks } = this.view;
    const key = (r: number) => trace.time[r];
    const reach = 30 * plane.ratio;
    const bar = nearest(
      data,
      key,
      (r) => {
        if (!this.on(this.keyOfKind[trace.kind[r]])) return Number.POSITIVE_INFINITY;
        const a = plane.y(seqEnd(trace, r));
        const b = plane.y(trace.seq[r]);
        return Math.hypot(plane.x(trace.time[r]) - px, Math.max(0, a - py, py - b));
      },
      plane,
      px,
      reach,
    );
    if (!this.on('ack')) return bar.row;
    const ack = nearest(
      acks,
      key,
      (r) => Math.hypot(plane.x(trace.time[r]) - px, plane.y(trace.ack[r]) - py),
      plane,
      px,
      reach,
    );
    return ack.distance < bar.distance || bar.row < 0 ? ack.row : bar.row;
  }

  place(row: number): [number, number] | null {
    const { trace, fromClient } = this.view;
    const mine = trace.fromClient[row] === (fromClient ? 1 : 0);
    const y = mine ? (trace.seq[row] + seqEnd(trace, row)) / 2 : trace.ack[row];
    return Number.isNaN(y) ? null : [trace.time[row], y];
  }
}

function layer(key: string, name: string, colour: Ink, form: Layer['shape'], count: number): Layer {
  return { key, label: name, ink: colour, shape: form, count, on: true };
}
