// Bands of time as numbers, and the ticks of their axes.

import { describe, expect, it } from 'vitest';
import { fineTicks } from '../../src/charts/decades';
import { type Band, binAt, curve, endOf, type OverTime, statistics } from '../../src/data/over_time';
import { within } from '../../src/over_time/board';
import { shapesOf } from '../../src/over_time/shapes';
import { CurvesSpec } from '../../src/over_time/spec';
import { repetitions } from '../../src/over_time/view';

const band = curve({ first: 2, scale: 10, mid: [1, null, 3], low: [0, null, 3], high: [9, null, 4] }, 1e8);

describe('a band', () => {
  it('knows what was at a time, and where nothing was', () => {
    expect(binAt(band, 0.19)).toBe(-1);
    expect(binAt(band, 0.2)).toBe(0);
    expect(binAt(band, 0.35)).toBe(-1);
    expect(band.mid[binAt(band, 0.45)]).toBe(30);
    expect(binAt(band, 0.51)).toBe(-1);
    expect(endOf(band)).toBeCloseTo(0.5);
  });

  it('has its extremes over a range, gaps left out', () => {
    expect(statistics(band, 0, 9)).toMatchObject({ mean: 20, least: 0, most: 90 });
    expect(statistics(band, 0.4, 0.5)).toMatchObject({ mean: 30, least: 30, most: 40 });
    expect(statistics(band, 0.3, 0.4)).toBeNull();
  });

  it('is its own extremes where it has none', () => {
    const line = curve({ first: 0, scale: 1, mid: [5] }, 1e9);
    expect(line.low).toBe(line.mid);
  });
});

const repeated: Band = {
  first: 0,
  scale: 1,
  mid: [2, 5, null],
  runs: [
    { first: 0, scale: 1, mid: [1, 5] },
    { first: 1, scale: 10, mid: [1, 3] },
  ],
};

describe('the most of repetitions', () => {
  it('is that of all samples, also of runs that have no line', () => {
    const peak = { first: 0, scale: 1, mid: [7, 56_018, 9] };
    const { peak: most, ...line } = curve({ ...repeated, mid: [0, 0, null], peak }, 1e9);
    expect(statistics({ ...line, peak: most }, 0, 3)).toMatchObject({ mean: 0, least: 0, most: 56_018 });
    expect(statistics({ ...line, peak: most }, 2, 3)).toBeNull();
    // A state is held where no sample is: its peak is unknown there, not the least of all numbers.
    expect(statistics({ ...line, peak: most.map(() => Number.NaN) }, 0, 3)?.most).toBe(10);
  });
});

describe('repetitions', () => {
  const { low, mid, high, runs } = curve(repeated, 1e9, 2);

  it('reach from the lowest to the highest run around the median', () => {
    expect([...mid]).toEqual([4, 10, Number.NaN]);
    expect([...low]).toEqual([2, 10, 60]);
    expect([...high]).toEqual([4, 20, 60]);
    expect(runs.map((run) => run.first)).toEqual([0, 1]);
  });

  const over = (runs: number[], drawn: number): OverTime => ({
    bin_ns: 1e9,
    hold_ns: 1e9,
    link_every_ns: null,
    tcp_info_every_ns: null,
    ways: [],
    ways_left_out: 0,
    groups: ['flow'],
    points: runs.map((n) => ({
      at: [],
      runs: n,
      ways: [],
      groups: [{ flows: [], flows_left_out: 0, jain: null, rtt: repeated, pings: null }],
    })),
    points_left_out: 0,
    runs_drawn: drawn,
  });

  it('are named in plain words', () => {
    expect(repetitions(over([20, 20], 20))).toBe(
      '20 repetitions, median in bold. Thin lines are single repetitions.',
    );
    expect(repetitions(over([99, 100], 40))).toBe(
      '99 to 100 repetitions, median in bold. The first 40 are thin lines.',
    );
    expect(repetitions(over([100], 0))).toBe('100 repetitions, median in bold.');
    expect(repetitions(over([1], 0))).toMatch(/^Lines show the mean/);
  });

  it('have a chart of RTT that holds every run; charts without data are left out', () => {
    const all = over([2], 2);
    const shapes = shapesOf(all, [{ name: 'a', number: 0, point: all.points[0] }], 0, null);
    expect(shapes.map((shape) => shape.title)).toEqual(['RTT']);
    expect(shapes[0].lines[0].median).toBe(true);
    expect(new CurvesSpec(shapes[0], shapes[0].y).yRange(0, 9)[1]).toBeGreaterThan(30);
  });

  it('have rare peaks cut off where the axis holds what is usual', () => {
    const flat = Array(40).fill(10);
    const peak = flat.map((v, i) => (i === 20 ? 500 : v + 2));
    const runs = [flat, peak].map((mid) => ({ first: 0, scale: 1, mid }));
    const band = curve({ first: 0, scale: 1, mid: flat, runs }, 1e9);
    const line = { name: 'a', curve: band, median: true, ink: 'line-0' as const, dash: 0, on: true };
    const axis = { label: () => '', tick: () => '' };
    const top = (byMeans: boolean) =>
      new CurvesSpec({ id: 'a', title: 'a', lines: [line], y: axis, byMeans }, axis).yRange(0, 40)[1];
    expect(top(true)).toBeCloseTo(12 * 1.06);
    expect(top(false)).toBeCloseTo(500 * 1.06);
  });
});

describe('a flow', () => {
  const goodput = { first: 0, scale: 1, mid: [4e6, 2e6] };
  const flow = (name: string, mean_bps: number | null, curve: Band | null) => ({
    name,
    goodput: curve,
    mean_bps,
  });
  const shapes = (...flows: { name: string; goodput: Band | null; mean_bps: number | null }[]) => {
    const group = { flows, flows_left_out: 0, jain: null, rtt: null, pings: null };
    const points = [{ at: [], runs: 1, ways: [], groups: [group] }];
    const over: OverTime = {
      bin_ns: 1e9,
      hold_ns: 1e9,
      link_every_ns: null,
      tcp_info_every_ns: 2e8,
      ways: [],
      ways_left_out: 0,
      groups: ['bulk'],
      points,
      points_left_out: 0,
      runs_drawn: 0,
    };
    return shapesOf(over, [{ name: '', number: 0, point: points[0] }], 0, null);
  };

  it('has the goodput of the table beside its name, and a mean over a part', () => {
    const [shape] = shapes(flow('bulk', 5e6, goodput));
    expect(within(shape.lines[0], [0, 2], shape, true)).toBe('goodput 5.00 Mbit/s');
    expect(within(shape.lines[0], [0, 1], shape, false)).toBe('mean 4.00 Mbit/s');
    // A mean over a part of the range says which part.
    expect(within(shape.lines[0], [0, 9], shape, false)).toMatch(/^mean .* Mbit\/s \(0 to /);
  });

  it('has no curve but its goodput where it was shorter than a sample', () => {
    const words = 'shorter than 200 ms, the time between samples.';
    const [one] = shapes(flow('bulk', 8e6, null));
    expect(one.lines).toEqual([]);
    expect(one.note).toBe(`No curve of bulk, goodput 8.00 Mbit/s: ${words}`);
    const [two] = shapes(flow('a', 8e6, null), flow('b', 9e6, null), flow('c', 5e6, goodput));
    expect(two.note).toBe(`No curve of 2 flows, goodput 8.00 Mbit/s to 9.00 Mbit/s: ${words}`);
  });
});

describe('a queue whose rate changes', () => {
  const way = (no_drain?: string) => ({
    queue: { first: 0, scale: 1, mid: [9_000] },
    every_packet: true,
    rate: { first: 0, scale: 1, mid: [1e6] },
    drain_bps: no_drain ? null : 1e6,
    ...(no_drain ? { no_drain } : {}),
  });
  const shapes = (...reasons: (string | undefined)[]) => {
    const points = reasons.map((why) => ({ at: [], runs: 1, ways: [way(why)], groups: [] }));
    const over: OverTime = {
      bin_ns: 1e9,
      hold_ns: 1e9,
      link_every_ns: 1e8,
      tcp_info_every_ns: null,
      ways: ['a → b'],
      ways_left_out: 0,
      groups: [],
      points,
      points_left_out: 0,
      runs_drawn: 0,
    };
    const rows = points.map((point, number) => ({ name: `v${number}`, number, point }));
    return shapesOf(over, rows, 0, null);
  };

  it('has no time to drain, and says why', () => {
    const [queue, ...more] = shapes('the rate changes');
    expect(more.map((shape) => shape.id)).toEqual(['rate']);
    expect(queue.right).toBeUndefined();
    expect(queue.note).toContain('No time to drain is shown: the rate changes.');
    expect(queue.words(9_000)).toBe('9.00 kB');
  });

  it('says what its samples and those of the rate are', () => {
    const [queue, rate] = shapes('the rate changes');
    expect(queue.note).toContain('samples every 100 ms. Most: of all packets, also between samples.');
    expect(rate.mostOf).toBe('in one sample of 100 ms');
    expect(rate.note).toContain("may lie above the link's rate");
  });

  it('leaves the times of other lines', () => {
    const [queue, delay] = shapes(undefined, 'the rate changes');
    expect(queue.note).toContain('v1: no time to drain is shown, because the rate changes.');
    expect(delay.lines.map((line) => line.name)).toEqual(['v0']);
  });
});

describe('ticks of a logarithmic axis', () => {
  it('are finer where there are few', () => {
    expect(fineTicks(800, 25_000)).toEqual([1e3, 2e3, 5e3, 1e4, 2e4]);
    expect(fineTicks(800, 5e6)).toEqual([1e3, 1e4, 1e5, 1e6]);
    expect(fineTicks(2e-6, 3e-5)).toEqual([2e-6, 5e-6, 1e-5, 2e-5]);
  });
});
