// Ticks of the logarithmic axis; apart from chart.ts, which needs a browser to load.

/** Ticks inside a range: powers of ten, with twice and five times them where there would be few. */
export function fineTicks(low: number, high: number): number[] {
  const factors = high / low < 2e3 ? [1, 2, 5] : [1];
  const ticks: number[] = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++)
    for (const factor of factors) {
      const tick = Number(`${factor}e${e}`);
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  return ticks;
}

/** The powers of ten inside a range. */
export function decades(low: number, high: number): number[] {
  const ticks: number[] = [];
  for (let e = Math.ceil(Math.log10(low) - 1e-9); e <= Math.log10(high) + 1e-9; e++) ticks.push(10 ** e);
  return ticks;
}
