// Bands of time as numbers, and the ticks of their axes.

import { describe, expect, it } from 'vitest';
import { fineTicks } from '../../src/charts/decades';
import { binAt, curve, endOf, statistics } from '../../src/data/over_time';

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
    expect(statistics(band, 0, 9)).toEqual({ mean: 20, least: 0, most: 90 });
    expect(statistics(band, 0.4, 0.5)).toEqual({ mean: 30, least: 30, most: 40 });
    expect(statistics(band, 0.3, 0.4)).toBeNull();
  });

  it('is its own extremes where it has none', () => {
    const line = curve({ first: 0, scale: 1, mid: [5] }, 1e9);
    expect(line.low).toBe(line.mid);
  });
});

describe('ticks of a logarithmic axis', () => {
  it('are finer where there are few', () => {
    expect(fineTicks(800, 25_000)).toEqual([1e3, 2e3, 5e3, 1e4, 2e4]);
    expect(fineTicks(800, 5e6)).toEqual([1e3, 1e4, 1e5, 1e6]);
    expect(fineTicks(2e-6, 3e-5)).toEqual([2e-6, 5e-6, 1e-5, 2e-5]);
  });
});
