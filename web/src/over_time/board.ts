// The charts over time: one range of time and one cursor for all of them.

import { Chart } from '../charts/chart';
import { durationAxis } from '../charts/marks';
import { binAt, endOf, type Statistics, statistics } from '../data/over_time';
import { h, svg } from '../dom';
import { exact, micros } from '../format';
import type { Drawn, Row } from './shapes';
import { CurvesSpec, type Line, style } from './spec';

type Range = [number, number];

const SMALLEST = 1e-6;
const timeAxis = durationAxis("time since the run's start");

/** One chart and what stands around it. */
class Panel {
  readonly element: HTMLElement;
  private readonly body: HTMLElement;
  private readonly reading = h('output', { class: 'reading' });
  private chart: Chart | null = null;

  constructor(readonly shape: Drawn) {
    this.body = h('div', { class: 'plot', role: 'img', tabindex: 0 });
    const head = h('header', {}, h('h3', {}, shape.title));
    const drawn = shape.lines.length > 0;
    this.element = h(
      'section',
      { class: shape.small ? 'chart small' : 'chart', 'data-chart': shape.id },
      head,
      drawn && this.body,
      drawn && this.reading,
      shape.note && h('p', { class: 'note' }, shape.note),
    );
  }

  mount(range: Range, board: Board): void {
    if (this.shape.lines.length === 0) return;
    const spec = new CurvesSpec(this.shape, timeAxis);
    this.body.setAttribute('aria-label', spec.summary);
    this.chart = new Chart(spec, this.body, range, {
      zoom: (_c, a, b) => board.zoom(a, b),
      pan: (_c, a, b) => board.zoom(a, b),
      reset: () => board.reset(),
      hover: (c, left) => board.point(left === null ? null : c.plot.posToVal(left, 'x'), c),
      click: () => {},
    });
  }

  show(range: Range): void {
    this.chart?.aim(...range);
    this.chart?.show();
  }

  resize(): void {
    this.chart?.resize();
  }

  releaseY(): void {
    this.chart?.releaseY();
  }

  redraw(): void {
    this.chart?.redraw();
  }

  destroy(): void {
    this.chart?.destroy();
  }

  /** What the lines are at a time, or over the range. */
  read(time: number | null, range: Range, whole: boolean, except?: Chart): void {
    if (this.chart !== except) this.chart?.pointAt(time);
    const parts = this.shape.lines.flatMap((line) => {
      const words = !line.on
        ? ''
        : time === null
          ? within(line, range, this.shape, whole)
          : at(line, time, this.shape);
      return words ? [value(line, words)] : [];
    });
    const span = h('span', { class: 'span' }, `${spanWords(range)}:`);
    this.reading.replaceChildren(
      ...(time === null && !this.shape.small && parts.length > 0 ? [span] : []),
      ...parts,
    );
  }
}

/** What a line is at a time; empty: nothing is known. */
function at({ curve, median }: Line, time: number, { words, small }: Drawn): string {
  const bin = binAt(curve, time);
  if (bin < 0) return '';
  const [low, mid, high] = [curve.low, curve.mid, curve.high].map((values) => values[bin]);
  const spread = `, ${curve.runs.length > 0 ? 'runs ' : ''}${words(low)} to ${words(high)}`;
  return `${median ? 'median ' : ''}${words(mid)}${high > low && !small ? spread : ''}`;
}

/** What a line is over a range; empty: nothing is known. */
export function within(line: Line, range: Range, { words, small, mostOf }: Drawn, whole: boolean): string {
  const { curve, median } = line;
  if (small && whole && line.whole !== undefined)
    return `${median ? 'median ' : ''}goodput ${words(line.whole)}`;
  const all = statistics(curve, ...range);
  if (!all) return '';
  const mean = `mean ${median ? 'of the median ' : ''}${words(all.mean)}`;
  const most = small ? '' : `, most ${mostOf ? `${mostOf} ` : ''}${words(all.most)}`;
  return `${mean}${most}${part(all, range, curve.bin)}`;
}

/** The part of a range that a line's mean covers, if the line begins later or ends earlier. */
function part({ from, to }: Statistics, range: Range, bin: number): string {
  const isWhole = from < range[0] + 1.5 * bin && to > range[1] - 1.5 * bin;
  return isWhole ? '' : ` (${spanWords([Math.max(from, range[0]), Math.min(to, range[1])])})`;
}

/** `0 to 12.4 s`. */
const spanWords = ([from, to]: Range): string =>
  `${from === 0 ? '0' : micros(from * 1e6)} to ${micros(to * 1e6)}`;

/** A line's name, in its colour, and words. */
const value = (line: Line, words: string): HTMLElement =>
  h('span', { class: 'value' }, swatch(line), h('b', {}, line.name), ` ${words}`);

function swatch(line: Pick<Line, 'ink' | 'dash'>): SVGElement {
  const path = svg('path', {
    d: 'M0 5H16',
    stroke: `var(--${line.ink})`,
    'stroke-width': 3,
    fill: 'none',
    ...(line.dash > 0 ? { 'stroke-dasharray': '4 2' } : {}),
  });
  return svg('svg', { viewBox: '0 0 16 10', width: 16, height: 10, 'aria-hidden': 'true' }, path);
}

export class Board {
  readonly element = h('div', { class: 'board-over-time' });
  /** Names of the lines that are switched off. */
  readonly hidden: Set<string>;
  private readonly panels: Panel[];
  private readonly full: Range;
  private range: Range;
  private readonly said = h('output', { class: 'readout' });
  private readonly sizes = new ResizeObserver(() => {
    for (const panel of this.panels) panel.resize();
  });

  constructor(shapes: Drawn[], rows: Row[], hidden: Set<string> | undefined) {
    const end = Math.max(0, ...shapes.flatMap((shape) => shape.lines.map((line) => endOf(line.curve))));
    this.full = [0, end > 0 ? end : 1];
    this.range = this.full;
    this.hidden = hidden ?? new Set();
    this.panels = shapes.map((shape) => new Panel(shape));
    const large = this.panels.filter((panel) => !panel.shape.small).map((panel) => panel.element);
    const small = this.panels.filter((panel) => panel.shape.small).map((panel) => panel.element);
    this.element.append(
      rows.length > 1 ? this.legend(rows) : '',
      ...large,
      small.length > 0 ? h('div', { class: 'small-charts' }, ...small) : '',
    );
    this.hide();
  }

  mount(): void {
    for (const panel of this.panels) panel.mount(this.range, this);
    this.sizes.observe(this.element);
    this.show();
  }

  destroy(): void {
    this.sizes.disconnect();
    for (const panel of this.panels) panel.destroy();
  }

  /** Takes the sizes and colours that there are now. */
  fit(): void {
    for (const panel of this.panels) panel.resize();
    this.repaint();
  }

  repaint(): void {
    for (const panel of this.panels) panel.redraw();
  }

  /** The lines of all charts that compare: a button each. */
  private legend(rows: Row[]): HTMLElement {
    const legend = h('header', { class: 'lines' });
    for (const row of rows) {
      const button = h(
        'button',
        { class: 'layer', type: 'button', 'aria-pressed': String(!this.hidden.has(row.name)) },
        swatch(style(row.number)),
        row.name,
      );
      button.addEventListener('click', () => {
        if (!this.hidden.delete(row.name)) this.hidden.add(row.name);
        button.setAttribute('aria-pressed', String(!this.hidden.has(row.name)));
        this.hide();
        this.show();
      });
      legend.append(button);
    }
    legend.append(this.said);
    return legend;
  }

  private hide(): void {
    for (const { shape } of this.panels) {
      if (shape.small) continue;
      for (const line of shape.lines) line.on = !this.hidden.has(line.name);
    }
  }

  private show(): void {
    for (const panel of this.panels) panel.show(this.range);
    this.point(null);
    this.element.dataset.from = String(this.range[0]);
    this.element.dataset.to = String(this.range[1]);
  }

  zoom(from: number, to: number): void {
    const [first, last] = this.full;
    this.range = [Math.max(from, first), Math.min(to, last)];
    if (this.range[1] - this.range[0] < SMALLEST) this.range = this.full;
    this.show();
  }

  reset(): void {
    for (const panel of this.panels) panel.releaseY();
    this.range = this.full;
    this.show();
  }

  /** A time under the pointer. */
  point(time: number | null, except?: Chart): void {
    const whole = this.range === this.full;
    for (const panel of this.panels) panel.read(time, this.range, whole, except);
    this.said.textContent = time === null ? spanWords(this.range) : `at ${exact(time)}`;
  }
}
