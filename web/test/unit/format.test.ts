// Numbers, dates and ticks as a reader sees them.

import { describe, expect, it } from 'vitest';
import { decades } from '../../src/charts/decades';
import { tidy } from '../../src/charts/marks';
import {
  bytes,
  byteUnit,
  count,
  date,
  decimals,
  flagNames,
  micros,
  plural,
  rate,
  timeUnit,
} from '../../src/format';

describe('format', () => {
  it.each([
    [0, '0 µs'],
    [21, '21 µs'],
    [999, '999 µs'],
    [42_240, '42.24 ms'],
    [231_400, '231.4 ms'],
    [1_250_000, '1.250 s'],
    [123_000_000, '2 min 3 s'],
    [7_260_000_000, '2 h 1 min'],
  ])('%d µs is %s', (us, text) => expect(micros(us)).toBe(text));

  it.each([
    [0, '0 B'],
    [980, '980 B'],
    [1024, '1.02 kB'],
    [102_400, '102 kB'],
    [72_400_000, '72.4 MB'],
  ])('%d bytes are %s', (n, text) => expect(bytes(n)).toBe(text));

  it('groups thousands and minds the plural', () => {
    expect(count(1_234_567)).toBe('1,234,567');
    expect(plural(1, 'packet')).toBe('1 packet');
    expect(plural(2000, 'packet')).toBe('2,000 packets');
    expect(rate(81_920)).toBe('81.9 kbit/s');
  });

  it('writes dates in UTC with microseconds, and does not fail on absurd ones', () => {
    expect(date(1_700_000_000_123_456_000)).toBe('2023-11-14 22:13:20.123456 UTC');
    expect(date(1_700_000_000_123_456_000, false)).toBe('2023-11-14 22:13:20 UTC');
    expect(date(36_000e9, false)).toBe("10:00:00 by the capture's clock, which has no date");
    expect(date(9e18 * 1000)).toBe('no date');
  });

  it('names flags', () => {
    expect(flagNames(0x012)).toBe('SYN ACK');
    expect(flagNames(0)).toBe('none');
  });

  it('ticks have the decimals of their step and one unit for the axis', () => {
    expect([decimals(1), decimals(0.5), decimals(0.25), decimals(1e-6)]).toEqual([0, 1, 2, 6]);
    expect([decimals(250), decimals(0.2 / 1e-3), decimals(2.5e-3 / 1e-3)]).toEqual([0, 0, 1]);
    expect(tidy(12_345, 5)).toBe('12,345');
    expect(tidy(1.25, 0.01)).toBe('1.25');
    expect(timeUnit(0.2).name).toBe('ms');
    expect(byteUnit(2e6).name).toBe('MB');
    expect(decades(20, 2e5)).toEqual([100, 1000, 10_000, 100_000]);
  });
});
