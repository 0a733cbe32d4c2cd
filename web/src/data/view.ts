// One direction of a stream, prepared for the charts: which packets carry its data, which carry
// the peer's ACKs for it, and how time maps to the count of segments.

import { KIND, type Trace } from './columns';

export interface View {
  trace: Trace;
  /** The client sends the data. */
  fromClient: boolean;
  /** Rows of the sender that take sequence space, and its probes; by time. */
  data: Uint32Array;
  /** Rows of the peer with an ACK number; by time. */
  acks: Uint32Array;
  /** Highest ACK number so far, for each entry of `acks`. */
  ackLine: Float64Array;
  /** Rows of the peer that acknowledge new data; by time. */
  waits: Uint32Array;
  /** Rows of the peer that give an RTT sample; by time. */
  rtts: Uint32Array;
  flight: Steps;
  /** First and last packet of the stream, seconds. */
  span: [number, number];
  /** Segments that the ACKs cover. */
  segments: number;
  /** The peer's windows are known only up to a power of two. */
  windowUnscaled: boolean;
  /** Time against the newest segment that is ACKed, both rising. */
  knots: { time: number[]; segment: number[] };
}

/** A value that stays until the next change; `rows` tells which packet changed it. */
export interface Steps {
  time: Float64Array;
  value: Float64Array;
  rows: Uint32Array;
}

const SYN_OR_FIN = 0x003;

/** All rows by time; captures may hold time stamps that go backwards. */
function byTime(trace: Trace): Uint32Array {
  const order = Uint32Array.from({ length: trace.rows }, (_, i) => i);
  for (let i = 1; i < trace.rows; i++) {
    if (trace.time[i] < trace.time[i - 1]) {
      return order.sort((a, b) => trace.time[a] - trace.time[b] || a - b);
    }
  }
  return order;
}

/** Sequence number after the segment; SYN and FIN take one each. */
export function seqEnd(trace: Trace, row: number): number {
  const flags = trace.flags[row];
  return trace.seq[row] + trace.len[row] + ((flags >> 1) & 1) + (flags & 1);
}

export function makeView(trace: Trace, fromClient: boolean): View {
  const order = byTime(trace);
  const sender = fromClient ? 1 : 0;
  const mine = (row: number) => trace.fromClient[row] === sender;
  const data = order.filter(
    (r) => mine(r) && (trace.len[r] > 0 || trace.flags[r] & SYN_OR_FIN || trace.kind[r] >= KIND.keepAlive),
  );
  const acks = order.filter((r) => !mine(r) && !Number.isNaN(trace.ack[r]));
  const waits = acks.filter((r) => trace.ackRow[r] >= 0);
  const rtts = acks.filter((r) => !Number.isNaN(trace.rttUs[r]));
  const ackLine = new Float64Array(acks.length);
  let high = 0;
  acks.forEach((row, i) => {
    high = Math.max(high, trace.ack[row]);
    ackLine[i] = high;
  });
  const first = order.length > 0 ? trace.time[order[0]] : 0;
  const final = order.length > 0 ? trace.time[order[order.length - 1]] : 0;
  // One packet, or all at one time, still needs a range to draw in.
  const span: [number, number] = [first, Math.max(final, first + 1e-6)];
  const windowUnscaled = trace.unscaled[fromClient ? 0 : 1];
  const view = { trace, fromClient, data, acks, ackLine, waits, rtts, span, windowUnscaled };
  const knots = makeKnots(trace, waits, span);
  const segments = waits.reduce((most, r) => Math.max(most, trace.acks.newest[trace.ackRow[r]]), 0);
  return { ...view, flight: makeFlight(trace, order, sender), segments, knots };
}

/** Bytes in flight as sent and not ACKed: up at the sender's packets, down at the peer's ACKs. */
function makeFlight(trace: Trace, order: Uint32Array, sender: number): Steps {
  const time: number[] = [];
  const value: number[] = [];
  const rows: number[] = [];
  let sent = Number.NaN;
  for (const row of order) {
    let now: number;
    if (trace.fromClient[row] === sender) {
      if (trace.len[row] === 0) continue;
      const end = trace.seq[row] + trace.len[row];
      sent = Number.isNaN(sent) ? end : Math.max(sent, end);
      now = trace.flight[row];
    } else {
      if (Number.isNaN(sent) || trace.ackRow[row] < 0) continue;
      now = Math.max(0, sent - trace.ack[row]);
    }
    time.push(trace.time[row]);
    value.push(now);
    rows.push(row);
  }
  return { time: Float64Array.from(time), value: Float64Array.from(value), rows: Uint32Array.from(rows) };
}

function makeKnots(trace: Trace, waits: Uint32Array, span: [number, number]): View['knots'] {
  const time = [span[0]];
  const segment = [0];
  for (const row of waits) {
    const t = trace.time[row];
    const s = trace.acks.newest[trace.ackRow[row]];
    if (t > time[time.length - 1] && s > segment[segment.length - 1]) {
      time.push(t);
      segment.push(s);
    }
  }
  const end = time[time.length - 1];
  const step = (end - time[0]) / Math.max(1, segment[segment.length - 1]) || span[1] - span[0];
  time.push(Math.max(span[1], end + step));
  segment.push(segment[segment.length - 1] + 1);
  return { time, segment };
}

/** Between knots in proportion; outside them at the slope of the whole, since the outermost pair may be very steep. */
function interpolate(from: number[], to: number[], x: number): number {
  let lo = 0;
  let hi = from.length - 1;
  const slope = (to[hi] - to[0]) / (from[hi] - from[0]);
  if (x <= from[lo]) return to[lo] + (x - from[lo]) * slope;
  if (x >= from[hi]) return to[hi] + (x - from[hi]) * slope;
  while (hi - lo > 1) {
    const mid = (lo + hi) >> 1;
    if (from[mid] <= x) lo = mid;
    else hi = mid;
  }
  return to[lo] + ((x - from[lo]) * (to[hi] - to[lo])) / (from[hi] - from[lo]);
}

/** Newest ACKed segment at a time, between ACKs in proportion. */
export const segmentAt = (view: View, time: number): number =>
  interpolate(view.knots.time, view.knots.segment, time);

/** The inverse of `segmentAt`. */
export const timeAt = (view: View, segment: number): number =>
  interpolate(view.knots.segment, view.knots.time, segment);

/** First index whose key is not below `x`; `key` must not fall. */
export function lowerBound(length: number, key: (i: number) => number, x: number): number {
  let lo = 0;
  let hi = length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (key(mid) < x) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/** Which direction the packets of a finding speak of: true for the client's data. */
export function directionOf(trace: Trace, rows: number[]): boolean {
  let votes = 0;
  for (const row of rows) {
    const client = trace.fromClient[row] === 1 ? 1 : -1;
    if (trace.len[row] > 0 || trace.flags[row] & SYN_OR_FIN) votes += client;
    else votes -= client;
  }
  if (votes !== 0) return votes > 0;
  return bytesOf(trace, 1) >= bytesOf(trace, 0);
}

/** Payload bytes of one side. */
export function bytesOf(trace: Trace, side: number): number {
  let sum = 0;
  for (let i = 0; i < trace.rows; i++) if (trace.fromClient[i] === side) sum += trace.len[i];
  return sum;
}

/** Rows of these frame numbers; those that the page does not hold are left out. */
export function rowsOf(trace: Trace, numbers: number[]): number[] {
  const wanted = new Set(numbers);
  const rows: number[] = [];
  for (let i = 0; i < trace.rows; i++) if (wanted.has(trace.number[i])) rows.push(i);
  return rows;
}
