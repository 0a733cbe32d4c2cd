// Numbers in the unit of their measure.

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

/** The units that are shown with the prefix that fits; all others are shown as they are. */
const PREFIXED: Record<string, [number, string][]> = {
  'bit/s': [
    [1e9, 'Gbit/s'],
    [1e6, 'Mbit/s'],
    [1e3, 'kbit/s'],
    [1, 'bit/s'],
  ],
  us: [
    [1e6, 's'],
    [1e3, 'ms'],
    [1, 'µs'],
  ],
};

/** `unit` is the measure's, as the result says it; `most` is the largest value that is shown. */
export function shownIn(unit: string, most: number): Measured {
  const prefixes = PREFIXED[unit];
  if (prefixes) return prefixed(most, prefixes);
  return { unit: unit === 'B' ? 'bytes' : unit, text: digits };
}
