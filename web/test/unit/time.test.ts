// Budgets and spans: what is read back, what is painted, what is said.

import { describe, expect, it } from 'vitest';
import { Classes, largestFirst, type Part, sentence, share, total } from '../../src/data/budget';
import { bytesOf } from '../../src/data/columns';
import type { Capture } from '../../src/data/model';
import { decodeSpans, paintSpans, type Spans, spanAt } from '../../src/data/spans';
import { windowUnscaled } from '../../src/ui/facts';
import { whyNone } from '../../src/ui/findings';

/** The same text stands in crates/report/src/page/tests.rs. */
const GOLDEN = 'AACsAgEApIQDDJBOCg==';

const classes = new Classes([
  ['handshake', 'handshake'],
  ['client_thinks', 'client thinks'],
  ['server_thinks', 'server thinks'],
  ['rto', 'retransmission timeout'],
  ['path', 'path'],
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

  it('is told largest first, with what is left', () => {
    const five: Part[] = [...parts, [0, 50_000], [1, 30_000]];
    const plain = sentence(classes, five).replaceAll('\u00a0', ' ');
    expect(plain).toBe(
      '22.000 s server thinks (75 %), 7.000 s retransmission timeout (24 %), 100.0 ms path (< 1 %), 80.00 ms other',
    );
    expect(sentence(classes, parts)).not.toContain('other');
  });

  it('never rounds a part to nothing or to all', () => {
    const texts = [1, 995, 999, 1000].map((us) => share(us, 1000).replaceAll('\u00a0', ' '));
    expect(texts).toEqual(['< 1 %', '> 99 %', '> 99 %', '100 %']);
  });
});

describe('silence', () => {
  const capture = (totals: object, missing: number): Capture =>
    ({
      totals: { packets: 9, tcp_packets: 9, tcp_streams: 1, ...totals },
      not_checked: Array(missing).fill({ lacks: 'handshake', missing: 'the handshake', findings: [] }),
    }) as unknown as Capture;

  it('is an all-clear only where everything could be looked at', () => {
    expect(whyNone(capture({}, 0))).toContain('none of the causes');
    for (const not of [
      capture({}, 1),
      capture({ dropped: 3 }, 0),
      capture({ error: { offset: 1, message: 'x' } }, 0),
      capture({ tcp_streams: 0 }, 0),
    ]) {
      expect(whyNone(not)).not.toContain('none of the causes');
    }
  });
});

describe('the scale of a window', () => {
  it('is known only from both SYNs', () => {
    const side = {} as Parameters<typeof windowUnscaled>[1];
    const stream = (handshake?: object) => ({ handshake }) as Parameters<typeof windowUnscaled>[0];
    const seen = { syn_retransmissions: 0, synack_retransmissions: 0, server_rtt_us: 300 };
    expect(windowUnscaled(stream(seen), side)).toBe(false);
    expect(windowUnscaled(stream(), side)).toBe(true);
    expect(windowUnscaled(stream({ ...seen, server_rtt_us: undefined }), side)).toBe(true);
    expect(windowUnscaled(stream(seen), { ...side, window_unscaled: true })).toBe(true);
  });
});
