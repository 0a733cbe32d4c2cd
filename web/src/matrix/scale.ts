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

/** Shade of a value, 0 to `SHADES - 1`; by ratio where the values span more than a factor of 20. */
export function shade(value: number, least: number, most: number): number {
  if (most === least) return 0;
  const byRatio = least > 0 && most / least > 20;
  const part = byRatio ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least);
  return Math.min(SHADES - 1, Math.max(0, Math.floor(part * SHADES)));
}

/** `+17 %`, `−2 %`, `0 %`. */
export function signed(percent: number): string {
  const whole =
    Math.abs(percent) < 9.95 ? Math.abs(percent).toFixed(1).replace('.0', '') : Math.abs(percent).toFixed(0);
  if (whole === '0') return '0 %';
  return `${percent < 0 ? '−' : '+'}${whole} %`;
}
