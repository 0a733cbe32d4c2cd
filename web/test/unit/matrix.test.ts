// Words of the heat map.

import { describe, expect, it } from 'vitest';
import { type Cell, cellWords } from '../../src/data/matrix';
import { changeWords, nothingToCompare } from '../../src/matrix/heatmap';
import { parted } from '../../src/matrix/notes';
import { edge, SHADES, scaleOf, scaleWords, shade } from '../../src/matrix/scale';

describe('notes', () => {
  it('fold where they are more than a few', () => {
    expect(parted([])).toEqual([[], []]);
    expect(parted(['a', 'b', 'c', 'd', 'e'])[1]).toEqual([]);
    expect(parted(['a', 'b', 'c', 'd', 'e', 'f'])).toEqual([
      ['a', 'b', 'c', 'd'],
      ['e', 'f'],
    ]);
  });
});

describe('a cell in words', () => {
  const cell: Cell = {
    at: [0],
    runs: 6,
    values: [[8.89, 8.77, 8.99], [3, 2, 4], null],
    known: { 0: 4 },
    why: { 0: 'no connection', 2: 'not sampled' },
  };
  const words = (measure: number) => cellWords(cell, measure, 'Mbit/s', String);

  it('says how many of its runs have a value', () => {
    expect(words(0)).toBe('8.89 [8.77 .. 8.99] Mbit/s in 4 of 6 runs (the others: no connection)');
    expect(words(1)).toBe('3 [2 .. 4] Mbit/s in 6 runs');
    expect(words(2)).toBe('not sampled');
    expect(cellWords(undefined, 0, '', String)).toBe('was not run');
  });
});

describe('the shades of values', () => {
  it('say that they are by ratio, and where each begins', () => {
    const wide = scaleOf([1, 10, 128]);
    expect(scaleWords(wide)).toBe('logarithmic scale');
    expect(Array.from({ length: SHADES + 1 }, (_, at) => Math.round(edge(at, wide)))).toEqual([
      1, 2, 4, 8, 16, 32, 64, 128,
    ]);
    expect([1, 10, 128].map((value) => shade(value, wide))).toEqual([0, 3, 6]);
    expect(scaleWords(scaleOf([1, 2]))).toBe('linear scale');
  });

  it('are not spread over values that hardly differ', () => {
    const narrow = scaleOf([98.6, 100]);
    const shades = [98.6, 100].map((value) => shade(value, narrow));
    expect(shades[1] - shades[0]).toBeLessThanOrEqual(2);
    expect(scaleWords(narrow)).toContain('the values differ by only 1.4 %');
    expect(narrow.to - narrow.from).toBeCloseTo(5);
  });

  it('are one where all values are equal', () => {
    expect(scaleWords(scaleOf([7, 7]))).toBe('all values are equal');
    expect(shade(7, scaleOf([7, 7]))).toBe(0);
  });
});

describe('the heading of changes', () => {
  const axes = [
    { name: 'variant', labels: ['cubic', 'bbr'] },
    { name: 'loss', labels: ['0 %', '1 %'] },
  ];
  const chosen = (pinned: number, x: number) => ({
    x,
    y: null,
    measure: 0,
    pinned: [pinned, 0],
    base: [0, 0] as [number, number],
    band: 3,
  });

  it('says what is compared with what', () => {
    expect(changeWords(axes, chosen(1, 1))).toBe('change of bbr in per cent against cubic');
    expect(changeWords(axes, chosen(1, 0))).toBe('change in per cent against cubic');
  });

  it('says when there is nothing to compare', () => {
    expect(nothingToCompare(axes, chosen(0, 1))).toContain('cubic is both the chosen variant and the base');
    expect(nothingToCompare(axes, chosen(1, 1))).toBe('');
    expect(nothingToCompare(axes, chosen(0, 0))).toBe('');
  });
});
