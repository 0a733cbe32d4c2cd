// The unit of a measure, by its name (docs/experiment.md), and numbers in it.

import { count } from '../format';

export interface Measured {
  unit: string;
  /** A value of the measure in this unit. */
  text: (value: number) => string;
}

/** Three digits, or all of a whole number. */
function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || value === 0) return count(value);
  if (Number.isInteger(value)) return String(value);
  return value.toPrecision(3);
}

function prefixed(most: number, units: [number, string][]): Measured {
  const [size, unit] = units.find(([size]) => most >= size) ?? units[units.length - 1];
  return { unit, text: (value) => digits(value / size) };
}

/** `most` is the largest value that is shown. */
export function unitOf(name: string, most: number): Measured {
  if (/_bps($|\.)/.test(name))
    return prefixed(most, [
      [1e9, 'Gbit/s'],
      [1e6, 'Mbit/s'],
      [1e3, 'kbit/s'],
      [1, 'bit/s'],
    ]);
  if (/_us($|\.)/.test(name))
    return prefixed(most, [
      [1e6, 's'],
      [1e3, 'ms'],
      [1, 'µs'],
    ]);
  // Series of sets have flent's names and units.
  if (/\.Ping \(ms\)/.test(name)) return { unit: 'ms', text: digits };
  if (/\.TCP /.test(name)) return { unit: 'Mbit/s', text: digits };
  if (/_bytes($|\.)/.test(name)) return { unit: 'bytes', text: digits };
  return { unit: '', text: digits };
}
