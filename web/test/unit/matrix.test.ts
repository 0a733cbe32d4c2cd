// Words of the heat map.

import { describe, expect, it } from 'vitest';
import { type Cell, cellWords } from '../../src/data/matrix';
import { parted } from '../../src/matrix/notes';

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
