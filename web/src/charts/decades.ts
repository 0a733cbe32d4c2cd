// Ticks of the logarithmic axis; apart from chart.ts, which needs a browser to load.

/** The powers of ten inside a range. */
export function decades(low: number, high: number): number[] {
  const ticks: number[] = [];
  for (let e = Math.ceil(Math.log10(low) - 1e-9); e <= Math.log10(high) + 1e-9; e++) ticks.push(10 ** e);
  return ticks;
}
