// The pictures of a comparison.

import { describe, expect, it } from 'vitest';
import { endWords, placeOf } from '../../src/compare/runs';

describe('a change', () => {
  it('beyond the scale is marked, not drawn as its end', () => {
    expect(placeOf(551, 100)).toEqual({ at: 1, beyond: true });
    expect(placeOf(-551, 100)).toEqual({ at: -1, beyond: true });
    expect(placeOf(100, 100)).toEqual({ at: 1, beyond: false });
    expect(placeOf(-25, 100)).toEqual({ at: -0.25, beyond: false });
  });
});

describe('an axis of runs', () => {
  it('has its ends in four digits', () => {
    expect(endWords(-5, 12_345.678)).toEqual(['-5', '12,350']);
    expect(endWords(1e-5, 3.2e10)).toEqual(['0.00001000', '3.200e+10']);
    expect(endWords(1_000_000, 1_000_100)).toEqual(['1,000,000', '1,000,100']);
    expect(endWords(7, 7)).toEqual(['7', '7']);
  });
});
