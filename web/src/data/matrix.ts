// The document of a result of points: `tcplab.page-matrix/1`, written by crates/report/src/page/matrix.rs.

import type { OverTime } from './over_time';

export interface Axis {
  name: string;
  labels: string[];
}

export interface Cell {
  /** Its value on each axis. */
  at: number[];
  runs: number;
  /** Of each measure: median, least, most of the repetitions. */
  values: ([number, number, number] | null)[];
  /** How many of its runs have a value of a measure, by its number; left out where all or none have. */
  known?: Record<string, number>;
  /** Why a measure has no value, or some of its runs have none, by its number. */
  why?: Record<string, string>;
}

export interface MatrixPage {
  schema: 'tcplab.page-matrix/1';
  version: string;
  experiment: string;
  title: string | null;
  band_percent: number;
  matrix: {
    axes: Axis[];
    measures: string[];
    /** The unit of each. */
    units: string[];
    cells: Cell[];
    open: {
      x: number | null;
      y: number | null;
      measure: number;
      pinned: number[];
      base: [number, number] | null;
    };
    left_out: number;
  };
  /** What the terminal says below the table. */
  notes?: string[];
  /** What was sampled over time. */
  over_time?: OverTime;
}

/** What the heat map shows. */
export interface Chosen {
  x: number | null;
  y: number | null;
  measure: number;
  /** A value on each axis; those of `x` and `y` mean nothing. */
  pinned: number[];
  /** Axis and value that all is compared with. */
  base: [number, number] | null;
  /** Changes up to this many per cent do not matter. */
  band: number;
}

/** `4 of 6 runs`, or empty when all runs of a cell have a value. */
export function partly(cell: Cell | undefined, measure: number): string {
  const known = cell?.known?.[measure];
  return known === undefined ? '' : `${known} of ${cell?.runs} runs`;
}

/** `8.89 [8.77 .. 8.99] Mbit/s in 4 of 6 runs`, or why there is no value. */
export function cellWords(
  cell: Cell | undefined,
  measure: number,
  unit: string,
  text: (value: number) => string,
): string {
  if (!cell) return 'was not run';
  const value = cell.values[measure];
  const why = cell.why?.[measure];
  if (!value) return why ?? 'no value';
  const [median, least, most] = value.map(text);
  const units = unit === '' ? '' : ` ${unit}`;
  if (cell.runs === 1) return `${median}${units}`;
  const some = partly(cell, measure);
  const runs = some === '' ? `${cell.runs} runs` : some;
  const others = some === '' || !why ? '' : ` (the others: ${why})`;
  return `${median} [${least} .. ${most}]${units} in ${runs}${others}`;
}

/** Cells by their place. */
export class Cells {
  private readonly byPlace = new Map<string, Cell>();

  constructor(cells: Cell[]) {
    for (const cell of cells) this.byPlace.set(cell.at.join(), cell);
  }

  at(place: number[]): Cell | undefined {
    return this.byPlace.get(place.join());
  }

  /** The cell that this place is compared with. */
  base(place: number[], base: [number, number]): Cell | undefined {
    return this.at(place.map((value, axis) => (axis === base[0] ? base[1] : value)));
  }

  /** Change of the median in per cent; null where one has no value, or the base's is 0. */
  change(place: number[], measure: number, base: [number, number]): number | null {
    const value = this.at(place)?.values[measure]?.[0];
    const from = this.base(place, base)?.values[measure]?.[0];
    if (value === undefined || from === undefined || from === 0) return null;
    return (value / from - 1) * 100;
  }
}
