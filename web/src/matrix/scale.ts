// Classes of colour: of changes, on both sides of a band that does not matter, and of values.

/** Ends of the classes of change above the band, in per cent. */
const STEPS = [10, 30, 100];

/** Classes of values, from least to most. */
export const SHADES = 7;

/** `[3, 10, 30, 100]`: the band, then what lies above it. */
export function steps(band: number): number[] {
  return [band, ...STEPS.filter((step) => step > band)];
}

/** 0: within the band; 1 and more: that much further above; negative: below. */
export function classOf(change: number, band: number): number {
  const size = Math.abs(change);
  // What the cell prints decides: 3.4 % is printed as 3 %.
  const above = steps(band).filter((step) => Math.round(size * 10) > step * 10).length;
  return Math.sign(change) * above + 0;
}

/** `more than 100 %`, `30 to 100 %`. */
export function classWords(at: number, band: number): string {
  if (at === 0) return `within ±${band} %: no matter`;
  const ends = steps(band);
  const size = Math.abs(at);
  const from = ends[size - 1];
  const to = ends[size];
  const sign = at < 0 ? '−' : '+';
  return to === undefined
    ? `${at < 0 ? 'below' : 'above'} ${sign}${from} %`
    : `${sign}${from} to ${sign}${to} %`;
}

/** Values that differ by less than this part of the largest do not get the whole range of colours. */
const LEAST_WIDTH = 0.05;

/** The ends of the shades of some values. */
export interface Scale {
  from: number;
  to: number;
  /** By ratio: the values span more than a factor of 20. */
  log: boolean;
  /** What the values span, as a part of the largest, where the ends lie further apart than they; else 0. */
  narrow: number;
}

/** The scale of values. */
export function scaleOf(values: number[]): Scale {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const size = Math.max(Math.abs(least), Math.abs(most));
  const width = most - least;
  if (width > 0 && width < size * LEAST_WIDTH) {
    const more = (size * LEAST_WIDTH - width) / 2;
    return { from: least - more, to: most + more, log: false, narrow: width / size };
  }
  return { from: least, to: most, log: least > 0 && most / least > 20, narrow: 0 };
}

/** Shade of a value, 0 to `SHADES - 1`. */
export function shade(value: number, { from, to, log }: Scale): number {
  if (to === from) return 0;
  const part = log ? Math.log(value / from) / Math.log(to / from) : (value - from) / (to - from);
  return Math.min(SHADES - 1, Math.max(0, Math.floor(part * SHADES)));
}

/** The value at which a shade begins; that of `SHADES` is the end. */
export function edge(at: number, { from, to, log }: Scale): number {
  const part = at / SHADES;
  return log ? from * (to / from) ** part : from + (to - from) * part;
}

/** What kind of scale it is. */
export function scaleWords({ from, to, log, narrow }: Scale): string {
  if (from === to) return 'all values are equal';
  if (log) return 'logarithmic scale';
  if (narrow === 0) return 'linear scale';
  const percent = narrow * 100;
  const few = percent < 0.1 ? 'less than 0.1' : percent.toFixed(1);
  return `linear scale, over ${LEAST_WIDTH * 100} %: the values differ by only ${few} %`;
}

/** `+17 %`, `−2 %`, `0 %`. */
export function signed(percent: number): string {
  const whole =
    Math.abs(percent) < 9.95 ? Math.abs(percent).toFixed(1).replace('.0', '') : Math.abs(percent).toFixed(0);
  if (whole === '0') return '0 %';
  return `${percent < 0 ? '−' : '+'}${whole} %`;
}
