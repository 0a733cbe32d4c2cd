// Down-sampling keeps extremes and is bounded by pixels.

import { describe, expect, it } from 'vitest';
import { BarColumns, DotCells, StepColumns } from '../../src/charts/reduce';

describe('bars', () => {
  it('joins what touches in a pixel column and keeps apart what does not', () => {
    const bars: number[][] = [];
    const columns = new BarColumns((...bar) => bars.push(bar));
    columns.add(10.1, 5, 8);
    columns.add(10.2, 8, 12);
    columns.add(10.3, 40, 44);
    columns.add(11, 5, 8);
    columns.flush();
    expect(bars).toEqual([
      [10, 5, 12],
      [10, 40, 44],
      [11, 5, 8],
    ]);
  });

  it('draws no more than a few for each pixel, and both extremes', () => {
    let low = Number.POSITIVE_INFINITY;
    let high = 0;
    const columns = new BarColumns((_x, top, bottom) => {
      low = Math.min(low, top);
      high = Math.max(high, bottom);
    });
    for (let i = 0; i < 100_000; i++) {
      const y = (i * 7919) % 4001;
      columns.add((i * 800) / 100_000, y, y + 1);
    }
    columns.flush();
    expect(columns.drawn).toBeLessThanOrEqual(801 * 8);
    expect([low, high]).toEqual([0, 4001]);
  });
});

describe('steps', () => {
  it('goes right, then up', () => {
    const points: [number, number, boolean][] = [];
    const steps = new StepColumns((...p) => points.push(p));
    steps.add(0, 100);
    steps.add(5, 90);
    steps.finish(9);
    expect(points).toEqual([
      [0, 100, true],
      [5, 100, false],
      [5, 90, false],
      [9, 90, false],
    ]);
  });

  it('keeps a spike that is narrower than a pixel', () => {
    const heights: number[] = [];
    const steps = new StepColumns((_x, y) => heights.push(y));
    for (let i = 0; i < 1000; i++) steps.add(i / 100, i === 500 ? -7 : i === 501 ? 99 : 1);
    steps.finish(10);
    expect(Math.min(...heights)).toBe(-7);
    expect(Math.max(...heights)).toBe(99);
    expect(steps.drawn).toBeLessThanOrEqual(11 * 5 + 1);
  });
});

describe('dots', () => {
  it('draws one for each cell', () => {
    const cells = new DotCells(0, 0, 100, 50, 2, () => {});
    for (let i = 0; i < 100_000; i++) cells.add(i % 100, Math.floor(i / 100) % 50);
    expect(cells.drawn).toBe(50 * 25);
  });

  it('leaves out what is not in the plot', () => {
    const cells = new DotCells(10, 10, 20, 20, 2, () => {});
    for (const [x, y] of [
      [0, 15],
      [15, 0],
      [99, 15],
      [15, 99],
    ]) {
      cells.add(x, y);
    }
    expect(cells.drawn).toBe(0);
  });
});
