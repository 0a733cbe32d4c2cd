// Budgets and spans: what is read back, what is painted, what is said.

import { describe, expect, it } from 'vitest';
import { Classes, largestFirst, share, total } from '../../src/data/budget';
import { bytesOf } from '../../src/data/columns';
import { decodeSpans, paintSpans, type Spans, spanAt } from '../../src/data/spans';

/** The same text stands in crates/report/src/page/tests.rs. */
const GOLDEN = 'AACsAgEApIQDDJBOCg==';

const classes = new Classes([
  ['handshake', 'handshake', 'why'],
  ['client_thinks', 'client thinks', 'why'],
  ['server_thinks', 'server thinks', 'why'],
  ['rto', 'retransmission timeout', 'why'],
  ['path', 'path', 'why'],
]);

describe('spans', () => {
  it('are read back from the bytes that Rust writes', () => {
    const spans = decodeSpans(bytesOf(GOLDEN));
    expect([...spans.kind]).toEqual([0, 1, 12]);
    expect([...spans.from]).toEqual([0, 0.0003, 0.06]);
    expect([...spans.to]).toEqual([0.0003, 0.05, 0.06001]);
    expect(decodeSpans(new Uint8Array()).to.length).toBe(0);
  });

  it('are found by time, and a gap is no span', () => {
    const spans = decodeSpans(bytesOf(GOLDEN));
    expect([-1, 0.0001, 0.03, 0.055, 0.060005, 1].map((t) => spanAt(spans, t))).toEqual([
      -1, 0, 1, -1, 2, -1,
    ]);
  });

  const many = (n: number): Spans => ({
    from: Float64Array.from({ length: n }, (_, i) => i / n),
    to: Float64Array.from({ length: n }, (_, i) => (i + 1) / n),
    // Three of four are class 1.
    kind: Uint8Array.from({ length: n }, (_, i) => (i % 4 === 0 ? 2 : 1)),
  });

  it('are painted within a bound that the pixels set, by the class that has most of a pixel', () => {
    const painted: number[][] = [];
    const drawn = paintSpans(many(100_000), [0, 1], 500, 5, (...rect) => painted.push(rect));
    expect(drawn).toBe(500);
    expect(painted.map((r) => r[1])).toEqual([...Array(500).keys()]);
    expect(new Set(painted.map((r) => r[0]))).toEqual(new Set([1]));
  });

  it('are painted whole where they are wide, cut at the edges', () => {
    const painted: number[][] = [];
    paintSpans(many(4), [0.125, 0.625], 100, 5, (...rect) => painted.push(rect));
    expect(painted).toEqual([
      [2, 0, 25],
      [1, 25, 50],
      [1, 75, 25],
    ]);
  });
});

describe('a budget', () => {
  const parts = classes.parts({ path: 100_000, rto: 7_000_000, server_thinks: 22_000_000, nothing: 5 });

  it('keeps the order of the classes and leaves out zeros', () => {
    expect(parts).toEqual([
      [2, 22_000_000],
      [3, 7_000_000],
      [4, 100_000],
    ]);
    expect(total(parts)).toBe(29_100_000);
    expect(largestFirst(parts)[0][0]).toBe(2);
    expect(classes.parts(undefined)).toEqual([]);
  });

  it('never rounds a part to nothing or to all', () => {
    const texts = [1, 995, 999, 1000].map((us) => share(us, 1000).replaceAll('\u00a0', ' '));
    expect(texts).toEqual(['< 1 %', '> 99 %', '> 99 %', '100 %']);
  });
});
