// One chart: uPlot for axes, scales and the cursor; what is in it is drawn and picked by a `Spec`.

import uPlot from 'uplot';
import { decades, fineTicks } from './decades';
import { type Ink, ink } from './palette';

/** A thing in the chart that the legend names and can hide. */
export interface Layer {
  key: string;
  label: string;
  ink: Ink;
  shape: 'bar' | 'line' | 'dash' | 'disc' | 'square' | 'triangle' | 'diamond' | 'cross' | 'ring';
  /** How many there are in the whole stream; 0 leaves it out of the legend. */
  count: number;
  on: boolean;
}

/** Where and how to draw; canvas pixels. */
export interface Plane {
  ctx: CanvasRenderingContext2D;
  left: number;
  top: number;
  width: number;
  height: number;
  /** Canvas pixels in a CSS pixel. */
  ratio: number;
  /** Visible x range, in the unit of the x scale. */
  from: number;
  to: number;
  x(value: number): number;
  y(value: number): number;
}

/** The words along one axis; `max` is the largest visible value, which chooses the unit. */
export interface Axis {
  label(max: number): string;
  tick(value: number, step: number, max: number): string;
}

export interface Spec {
  id: string;
  title: string;
  /** What the chart shows, for those who cannot see it. */
  summary: string;
  layers: Layer[];
  /** Why there is nothing to draw. */
  empty: string | null;
  log?: boolean;
  x: Axis;
  y: Axis;
  /** The y axis once more on the right side, in another unit: its values are those of `y` times `factor`. */
  right?: { axis: Axis; factor: number };
  /** Keeps the room of a right axis without drawing one, so that charts above each other have one width. */
  gutter?: boolean;
  /** A logarithmic axis has ticks between the powers of ten, where these are few. */
  fine?: boolean;
  /** The wheel zooms only with Ctrl: the page itself scrolls. */
  wheelNeedsKey?: boolean;
  yRange(from: number, to: number): [number, number];
  /** Draws and tells how many marks it drew. */
  draw(plane: Plane): number;
  /** The packet at a point (canvas pixels), or -1. */
  pick(plane: Plane, px: number, py: number): number;
  /** Where a packet is drawn, in scale values. */
  place(row: number): [number, number] | null;
}

export interface Callbacks {
  zoom(chart: Chart, from: number, to: number): void;
  pan(chart: Chart, from: number, to: number): void;
  reset(): void;
  hover(chart: Chart, left: number | null, top: number): void;
  click(chart: Chart): void;
}

const FONT = '11px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const Y_AXIS = 58;
const Y_LABEL = 16;
const RIGHT_AXIS = Y_AXIS + Y_LABEL + 4;

export class Chart {
  readonly plot: uPlot;
  private quiet = false;
  /** The person chose this y range; it stays until reset. */
  private ownY: [number, number] | null = null;
  /** Rows of the finding that is shown. */
  marked: number[] = [];
  private current = -1;
  /** The x range that is or will be drawn. */
  private wanted: [number, number];
  /** Around the packet under the pointer; an element, so that moving it draws nothing anew. */
  private readonly ring = document.createElement('div');

  constructor(
    readonly spec: Spec,
    private readonly holder: HTMLElement,
    range: [number, number],
    private readonly callbacks: Callbacks,
  ) {
    this.wanted = range;
    const y = spec.yRange(range[0], range[1]);
    this.plot = new uPlot(this.options(range, y), [range, y], holder);
    this.ring.className = 'ring';
    this.ring.hidden = true;
    this.plot.over.append(this.ring);
    this.listen();
  }

  private options(range: [number, number], y: [number, number]): uPlot.Options {
    const { spec } = this;
    const axis = (label: (max: number) => string, key: string): Partial<uPlot.Axis> => ({
      stroke: () => ink('faint'),
      font: FONT,
      labelFont: FONT,
      labelGap: 0,
      label: (u) => label(Math.abs(u.scales[key].max ?? 0)),
      grid: { stroke: () => ink('grid'), width: 1 },
      ticks: { stroke: () => ink('grid'), width: 1, size: 4 },
      gap: 3,
    });
    const right = spec.right;
    const logarithmic = spec.log ? { distr: 3 as const, log: 10 as const } : {};
    // On a log axis only powers of ten, or the lines of one decade run together.
    const splits = spec.log
      ? {
          splits: (_u: uPlot, _i: number, low: number, high: number) =>
            (spec.fine ? fineTicks : decades)(low, high),
        }
      : {};
    const upright = (of: Axis, key: string): uPlot.Axis => ({
      ...axis(of.label, key),
      size: Y_AXIS,
      labelSize: Y_LABEL,
      space: spec.log ? 14 : 24,
      ...splits,
      values: (u, splits, _i, _space, step) =>
        splits.map((v) => (v === null ? '' : of.tick(v, step, Math.abs(u.scales[key].max ?? 0)))),
    });
    return {
      ...this.size(),
      pxAlign: 1,
      padding: [6, right ? 4 : spec.gutter ? RIGHT_AXIS : 20, 0, 0],
      legend: { show: false },
      cursor: {
        points: { show: false },
        drag: { x: true, y: true, uni: 40, dist: 4, setScale: false },
        focus: { prox: -1 },
      },
      scales: {
        x: { time: false, auto: false, min: range[0], max: range[1] },
        y: {
          auto: false,
          min: y[0],
          max: y[1],
          ...logarithmic,
        },
        ...(right
          ? {
              right: {
                // uPlot takes all else from the y scale.
                from: 'y',
                range: (_u: uPlot, low: number, high: number): uPlot.Range.MinMax => [
                  low * right.factor,
                  high * right.factor,
                ],
              },
            }
          : {}),
      },
      series: [{}, { paths: () => null, points: { show: false } }],
      axes: [
        {
          ...axis(spec.x.label, 'x'),
          size: 20,
          labelSize: 15,
          space: 90,
          values: (u, splits, _i, _space, step) =>
            splits.map((v) => spec.x.tick(v, step, Math.abs(u.scales.x.max ?? 0))),
        },
        upright(spec.y, 'y'),
        ...(right
          ? [{ ...upright(right.axis, 'right'), scale: 'right', side: 1 as const, grid: { show: false } }]
          : []),
      ],
      hooks: {
        draw: [() => this.draw()],
        setSelect: [(u) => this.selected(u)],
        setCursor: [(u) => this.moved(u)],
      },
    };
  }

  private size(): { width: number; height: number } {
    return { width: Math.max(200, this.holder.clientWidth), height: Math.max(80, this.holder.clientHeight) };
  }

  resize(): void {
    const size = this.size();
    if (size.width !== this.plot.width || size.height !== this.plot.height) this.plot.setSize(size);
  }

  /** Takes an x range, to be drawn by the next `show`. */
  aim(from: number, to: number): void {
    this.wanted = [from, to];
    this.holder.dataset.from = String(from);
    this.holder.dataset.to = String(to);
  }

  /** Draws the range; the y range follows unless the person chose one. */
  show(): void {
    const [from, to] = this.wanted;
    const [low, high] = this.ownY ?? this.spec.yRange(from, to);
    const { x, y } = this.plot.scales;
    if (x.min === from && x.max === to && y.min === low && y.max === high) {
      this.redraw();
    } else {
      this.plot.batch(() => {
        this.plot.setScale('x', { min: from, max: to });
        this.plot.setScale('y', { min: low, max: high });
      });
    }
    this.ringAt(this.current);
  }

  releaseY(): void {
    this.ownY = null;
  }

  redraw(): void {
    this.plot.redraw(false, true);
  }

  get range(): [number, number] {
    return this.wanted;
  }

  plane(): Plane {
    const { ctx, bbox, scales } = this.plot;
    const from = scales.x.min ?? 0;
    const to = scales.x.max ?? 1;
    const low = this.height(scales.y.min ?? 0);
    const high = this.height(scales.y.max ?? 1);
    const perX = bbox.width / (to - from || 1);
    const perY = bbox.height / (high - low || 1);
    return {
      ctx,
      left: bbox.left,
      top: bbox.top,
      width: bbox.width,
      height: bbox.height,
      ratio: uPlot.pxRatio,
      from,
      to,
      x: (value) => bbox.left + (value - from) * perX,
      y: (value) => bbox.top + bbox.height - (this.height(value) - low) * perY,
    };
  }

  private height(value: number): number {
    return this.spec.log ? Math.log10(Math.max(value, 1e-9)) : value;
  }

  private draw(): void {
    const plane = this.plane();
    const { ctx } = plane;
    ctx.save();
    ctx.beginPath();
    ctx.rect(plane.left, plane.top, plane.width, plane.height);
    ctx.clip();
    ctx.font = `${11 * plane.ratio}px system-ui, sans-serif`;
    // uPlot leaves these as its axes needed them.
    ctx.textAlign = 'left';
    ctx.textBaseline = 'alphabetic';
    const drawn = this.spec.draw(plane);
    this.drawMarks(plane);
    ctx.restore();
    this.holder.dataset.drawn = String(drawn);
    this.holder.dataset.draws = String(Number(this.holder.dataset.draws ?? 0) + 1);
  }

  private drawMarks(plane: Plane): void {
    const { ctx, ratio } = plane;
    ctx.fillStyle = ink('mark');
    let last = Number.NEGATIVE_INFINITY;
    for (const row of this.marked) {
      const place = this.spec.place(row);
      if (!place) continue;
      const x = plane.x(place[0]);
      // Those that would run together are one.
      if (Math.abs(x - last) < 6 * ratio) continue;
      last = x;
      ctx.beginPath();
      ctx.moveTo(x - 4 * ratio, plane.top);
      ctx.lineTo(x + 4 * ratio, plane.top);
      ctx.lineTo(x, plane.top + 7 * ratio);
      ctx.fill();
    }
  }

  /** Rings a packet; -1 for none. */
  ringAt(row: number): void {
    this.current = row;
    const place = row < 0 ? null : this.spec.place(row);
    const x = place ? this.plot.valToPos(place[0], 'x') : -1;
    const y = place ? this.plot.valToPos(place[1], 'y') : -1;
    const { clientWidth, clientHeight } = this.plot.over;
    this.ring.hidden = !(x >= 0 && x <= clientWidth && y >= 0 && y <= clientHeight);
    this.ring.style.transform = `translate(${x}px, ${y}px)`;
  }

  /** Puts the cursor line at an x value without telling anybody. */
  pointAt(x: number | null): void {
    this.quiet = true;
    const left = x === null ? -10 : this.plot.valToPos(x, 'x');
    this.plot.setCursor({ left, top: x === null ? -10 : -1 }, false);
    this.quiet = false;
  }

  private moved(u: uPlot): void {
    if (this.quiet) return;
    const { left, top } = u.cursor;
    const inside = left !== undefined && left !== null && left >= 0 && (top ?? -1) >= 0;
    this.callbacks.hover(this, inside ? (left as number) : null, top ?? 0);
  }

  private selected(u: uPlot): void {
    const { left, top, width, height } = u.select;
    if (width < 4 && height < 4) return;
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    const full = u.over.clientHeight;
    if (height > 0 && height < full) this.ownY = [u.posToVal(top + height, 'y'), u.posToVal(top, 'y')];
    if (width >= 4 && width < u.over.clientWidth) {
      this.callbacks.zoom(this, u.posToVal(left, 'x'), u.posToVal(left + width, 'x'));
    } else {
      this.show();
    }
  }

  private listen(): void {
    const { over } = this.plot;
    over.addEventListener('dblclick', () => this.callbacks.reset());
    over.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
    // Before uPlot's own handler, so that a pan is not also a selection.
    this.holder.addEventListener('mousedown', (e) => this.maybePan(e), { capture: true });
    let down: [number, number] = [0, 0];
    over.addEventListener('mousedown', (e) => {
      down = [e.clientX, e.clientY];
    });
    over.addEventListener('click', (e) => {
      if (Math.hypot(e.clientX - down[0], e.clientY - down[1]) < 4) this.callbacks.click(this);
    });
  }

  private wheel(e: WheelEvent): void {
    if (this.spec.wheelNeedsKey && !e.ctrlKey && !e.metaKey && !e.shiftKey) return;
    e.preventDefault();
    const [from, to] = this.range;
    const width = to - from;
    const unit = e.deltaMode === 1 ? 30 : 1;
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      const by = (((e.deltaX || e.deltaY) * unit) / this.plot.over.clientWidth) * width;
      this.callbacks.pan(this, from + by, to + by);
      return;
    }
    const box = this.plot.over.getBoundingClientRect();
    const at = from + ((e.clientX - box.left) / box.width) * width;
    const factor = 1.0015 ** Math.max(-300, Math.min(300, e.deltaY * unit));
    this.callbacks.zoom(this, at - (at - from) * factor, at + (to - at) * factor);
  }

  /** Shift and drag, the middle button, or a drag on the x axis moves the range. */
  private maybePan(e: MouseEvent): void {
    const onAxis = !this.plot.over.contains(e.target as Node);
    if (!(e.button === 1 || (e.button === 0 && (e.shiftKey || onAxis)))) return;
    e.preventDefault();
    e.stopPropagation();
    const [from, to] = this.range;
    const perPixel = (to - from) / this.plot.over.clientWidth;
    const move = (m: MouseEvent) => {
      const by = (e.clientX - m.clientX) * perPixel;
      this.callbacks.pan(this, from + by, to + by);
    };
    const up = () => {
      removeEventListener('mousemove', move);
      removeEventListener('mouseup', up);
    };
    addEventListener('mousemove', move);
    addEventListener('mouseup', up);
  }

  destroy(): void {
    this.plot.destroy();
  }
}
