// Down-sampling by extremes: whatever the number of packets, what is drawn is bounded by the
// pixels, and no outlier is lost. Coordinates are canvas pixels; x must not fall.

/** Vertical bars: those of one pixel column that touch become one. */
export class BarColumns {
  private column = Number.NaN;
  private readonly low: number[] = [];
  private readonly high: number[] = [];
  /** Bars handed out. */
  drawn = 0;

  constructor(
    private readonly emit: (x: number, top: number, bottom: number) => void,
    /** Separate bars in one column. */
    private readonly limit = 8,
  ) {}

  add(x: number, a: number, b: number): void {
    const column = Math.round(x);
    if (column !== this.column) {
      this.flush();
      this.column = column;
    }
    const top = Math.min(a, b);
    const bottom = Math.max(a, b);
    const near = this.touching(top, bottom);
    if (near < 0) {
      this.low.push(top);
      this.high.push(bottom);
    } else {
      this.low[near] = Math.min(this.low[near], top);
      this.high[near] = Math.max(this.high[near], bottom);
    }
  }

  /** Bar within a pixel of this one; with the column full, the nearest. -1 for none. */
  private touching(top: number, bottom: number): number {
    let best = -1;
    let gap = this.low.length < this.limit ? 1 : Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.low.length; i++) {
      const apart = Math.max(this.low[i] - bottom, top - this.high[i]);
      if (apart <= gap) {
        best = i;
        gap = apart;
      }
    }
    return best;
  }

  /** Call once after the last bar. */
  flush(): void {
    for (let i = 0; i < this.low.length; i++) this.emit(this.column, this.low[i], this.high[i]);
    this.drawn += this.low.length;
    this.low.length = 0;
    this.high.length = 0;
  }
}

/** A step line: at most first, smallest, largest and last of each pixel column. */
export class StepColumns {
  private column = Number.NaN;
  private first = 0;
  private min = 0;
  private max = 0;
  private last = 0;
  private started = false;
  /** Corners handed out. */
  drawn = 0;

  constructor(private readonly to: (x: number, y: number, start: boolean) => void) {}

  add(x: number, y: number): void {
    const column = Math.round(x);
    if (column === this.column) {
      this.min = Math.min(this.min, y);
      this.max = Math.max(this.max, y);
      this.last = y;
      return;
    }
    this.flush();
    this.column = column;
    this.first = y;
    this.min = y;
    this.max = y;
    this.last = y;
  }

  flush(): void {
    if (Number.isNaN(this.column)) return;
    const x = this.column;
    if (this.started) this.point(x, this.previous);
    this.point(x, this.first);
    if (this.min < Math.min(this.first, this.last)) this.point(x, this.min);
    if (this.max > Math.max(this.first, this.last)) this.point(x, this.max);
    if (this.last !== this.first || this.min < this.first || this.max > this.first) this.point(x, this.last);
    this.previous = this.last;
    this.column = Number.NaN;
  }

  /** Carries the last value on to `x`. */
  finish(x: number): void {
    this.flush();
    if (this.started) this.point(x, this.previous);
  }

  private previous = 0;

  private point(x: number, y: number): void {
    this.to(x, y, !this.started);
    this.started = true;
    this.drawn++;
  }
}

/** Dots: one for each small cell of the plot, however many fall into it. */
export class DotCells {
  private readonly seen: Uint8Array;
  private readonly columns: number;
  private readonly rows: number;
  drawn = 0;

  constructor(
    private readonly left: number,
    private readonly top: number,
    width: number,
    height: number,
    private readonly cell: number,
    private readonly emit: (x: number, y: number) => void,
  ) {
    this.columns = Math.ceil(width / cell) + 1;
    this.rows = Math.ceil(height / cell) + 1;
    this.seen = new Uint8Array(this.columns * this.rows);
  }

  add(x: number, y: number): void {
    const column = Math.floor((x - this.left) / this.cell);
    const row = Math.floor((y - this.top) / this.cell);
    if (column < 0 || row < 0 || column >= this.columns || row >= this.rows) return;
    const at = row * this.columns + column;
    if (this.seen[at]) return;
    this.seen[at] = 1;
    this.drawn++;
    this.emit(x, y);
  }
}
