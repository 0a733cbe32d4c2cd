// Where the time of a stream went: stretches of one class, packed by crates/report/src/page/spans.rs.

import { Column } from './columns';
import { lowerBound } from './view';

export interface Spans {
  /** Seconds after the first packet; both rise. */
  from: Float64Array;
  to: Float64Array;
  /** Place of the class in the document's list. */
  kind: Uint8Array;
}

export function decodeSpans(bytes: Uint8Array): Spans {
  const column = new Column(bytes);
  const from: number[] = [];
  const to: number[] = [];
  const kind: number[] = [];
  let us = 0;
  while (!column.done) {
    kind.push(column.plain());
    us += column.plain();
    from.push(us / 1e6);
    us += column.plain();
    to.push(us / 1e6);
  }
  return { from: Float64Array.from(from), to: Float64Array.from(to), kind: Uint8Array.from(kind) };
}

/** The span at a time, or -1. */
export function spanAt(spans: Spans, time: number): number {
  const { from, to } = spans;
  const i = lowerBound(to.length, (k) => to[k], time);
  return i < to.length && from[i] <= time ? i : -1;
}

/**
 * Hands out what is visible as rectangles: wide spans as they are, those below a pixel as columns of the class that has
 * most of the pixel. Returns how many there were.
 */
export function paintSpans(
  spans: Spans,
  range: [number, number],
  width: number,
  classes: number,
  paint: (kind: number, x: number, width: number) => void,
): number {
  const scale = width / (range[1] - range[0]);
  const share = new Float64Array(classes);
  let column = -1;
  let drawn = 0;
  const flush = () => {
    if (column >= 0) {
      paint(share.indexOf(Math.max(...share)), column, 1);
      drawn++;
    }
    share.fill(0);
    column = -1;
  };
  const n = spans.to.length;
  for (let i = lowerBound(n, (k) => spans.to[k], range[0]); i < n && spans.from[i] <= range[1]; i++) {
    const a = Math.max(0, (spans.from[i] - range[0]) * scale);
    const b = Math.min(width, (spans.to[i] - range[0]) * scale);
    if (b - a >= 1.5) {
      flush();
      paint(spans.kind[i], a, b - a);
      drawn++;
      continue;
    }
    const at = Math.min(Math.floor(a), width - 1);
    if (at !== column) flush();
    column = at;
    share[spans.kind[i]] += b - a;
  }
  flush();
  return drawn;
}
