// The charts of one direction of a stream, side by side in time: one range, one cursor.

import type { Classes } from '../data/budget';
import type { AcksSent } from '../data/model';
import type { Spans } from '../data/spans';
import { timeAt, type View } from '../data/view';
import { h } from '../dom';
import { exact, rangeWords } from '../format';
import { chartHead } from '../ui/legend';
import type { Tooltip } from '../ui/tooltip';
import { Band } from './band';
import { Chart, type Spec } from './chart';
import { FlightChart } from './flight';
import { RttChart } from './rtt';
import { sequenceSpec } from './sequence';
import { ThroughputChart } from './throughput';
import { WaitChart } from './wait';

type Range = [number, number];

/** Nothing is finer than the time stamps of a capture. */
const SMALLEST = 2e-7;

export class Board {
  readonly element = h('div', { class: 'board' });
  readonly readout = h('output', { class: 'readout' });
  /** Time under the pointer. */
  readonly cursor = h('output', { class: 'readout cursor' });
  private readonly charts: Chart[] = [];
  private readonly full: Range;
  private range: Range;
  private past: Range[] = [];
  private current = -1;
  private readonly band: Band | null = null;
  private readonly sizes: ResizeObserver;
  /** The frame that will draw; 0 for none. */
  private frame = 0;

  constructor(
    private readonly view: View,
    acks: AcksSent | null,
    private readonly tooltip: Tooltip,
    time: { spans: Spans; classes: Classes },
  ) {
    const [from, to] = view.span;
    const pad = (to - from) * 0.015;
    this.full = [from - pad, to + pad];
    this.range = this.full;
    const specs = [
      sequenceSpec(view),
      new ThroughputChart(view),
      new WaitChart(view, acks),
      new RttChart(view),
      new FlightChart(view),
    ];
    this.sizes = new ResizeObserver(() => {
      this.resize();
    });
    this.element.append(...specs.map((spec) => this.section(spec)));
    if (time.spans.to.length > 0) {
      this.band = new Band(time.spans, time.classes, {
        hover: (at) => this.point(-1, at),
        zoom: (from, to) => this.zoom(from, to),
        reveal: (at) => this.reveal(at),
      });
      this.element.firstElementChild?.after(this.band.element);
    }
  }

  /** Takes the sizes that the style sheet gives. */
  resize(): void {
    for (const chart of this.charts) chart.resize();
    this.showBand();
  }

  /** Under the chart above it, from edge to edge of its plot. */
  private showBand(): void {
    const above = this.charts.find((c) => c.spec.id === 'sequence') ?? this.charts[0];
    if (above) this.band?.show(...this.range, above.plane());
  }

  private reveal(time: number): void {
    const [from, to] = this.range;
    if (time < from || time > to) this.pan(time - (to - from) / 2);
    this.show();
  }

  private readonly later: (() => void)[] = [];

  private section(spec: Spec): HTMLElement {
    const section = h('section', { class: `chart ${spec.id}`, 'data-chart': spec.id });
    const body = h('div', {
      class: 'plot',
      tabindex: spec.empty ? undefined : 0,
      role: 'img',
      'aria-label': spec.summary,
    });
    section.append(
      chartHead(spec, () => this.show()),
      body,
    );
    if (spec.empty) {
      section.classList.add('empty');
      body.append(h('p', {}, spec.empty));
      return section;
    }
    // uPlot measures its holder, so it comes after the section is in the page.
    this.later.push(() => {
      const chart = new Chart(spec, body, this.rangeFor(spec), {
        zoom: (c, a, b) => this.zoom(...this.times(c, a, b)),
        pan: (c, a, b) => this.pan(this.times(c, a, b)[0]),
        reset: () => this.reset(),
        hover: (c, left, top) => this.hover(c, left, top),
        click: () => this.tooltip.pin(!this.tooltip.pinned),
      });
      this.charts.push(chart);
    });
    return section;
  }

  /** Call when the element is in the page. */
  mount(): void {
    for (const make of this.later) make();
    this.sizes.observe(this.element);
    this.show();
  }

  /** Draws anew, for new colours. */
  repaint(): void {
    for (const chart of this.charts) chart.redraw();
    this.showBand();
  }

  destroy(): void {
    this.sizes.disconnect();
    cancelAnimationFrame(this.frame);
    this.tooltip.hide();
    for (const chart of this.charts) chart.destroy();
  }

  private rangeFor(spec: Spec): Range {
    if (!(spec instanceof WaitChart)) return this.range;
    // Half a segment more on both sides: a dot on the edge is seen whole.
    return [spec.xOf(this.range[0]) - 0.5, spec.xOf(this.range[1]) + 0.5];
  }

  /** A range of a chart as a range of time; the inverse of `rangeFor`. */
  private times(chart: Chart, from: number, to: number): Range {
    if (!(chart.spec instanceof WaitChart)) return [from, to];
    const edge = to - from > 1 ? 0.5 : 0;
    return [timeAt(this.view, from + edge), timeAt(this.view, to - edge)];
  }

  /** Takes the range at once and draws it with the next frame: a wheel turns faster than charts draw. */
  private show(): void {
    for (const chart of this.charts) chart.aim(...this.rangeFor(chart.spec));
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      for (const chart of this.charts) chart.show();
      this.showBand();
    });
    const [from, to] = this.range;
    this.element.dataset.from = String(from);
    this.element.dataset.to = String(to);
    this.readout.textContent = rangeWords(this.range, this.view.span);
  }

  /** Shows a range of time and remembers the one before. */
  zoom(from: number, to: number): void {
    this.past.push(this.range);
    if (this.past.length > 100) this.past.shift();
    this.set(from, to);
  }

  pan(from: number): void {
    const width = this.range[1] - this.range[0];
    // A pan at the end of the data stops there and does not squeeze the range.
    const start = Math.max(this.full[0], Math.min(from, this.full[1] - width));
    this.set(start, start + width);
  }

  private set(from: number, to: number): void {
    if (to - from < SMALLEST) {
      const middle = (from + to) / 2;
      from = middle - SMALLEST / 2;
      to = middle + SMALLEST / 2;
    }
    this.range = [Math.max(from, this.full[0]), Math.min(to, this.full[1])];
    if (this.range[1] - this.range[0] < SMALLEST) this.range = this.full;
    this.show();
  }

  /** Zooms in (factor below 1) or out around the middle or the packet under the pointer. */
  zoomBy(factor: number): void {
    const [from, to] = this.range;
    const at = this.current >= 0 ? this.view.trace.time[this.current] : (from + to) / 2;
    const fixed = at >= from && at <= to ? at : (from + to) / 2;
    this.zoom(fixed - (fixed - from) * factor, fixed + (to - fixed) * factor);
  }

  panBy(share: number): void {
    const by = (this.range[1] - this.range[0]) * share;
    this.pan(this.range[0] + by);
  }

  reset(): void {
    for (const chart of this.charts) chart.releaseY();
    this.past = [];
    this.range = this.full;
    this.show();
  }

  back(): void {
    const range = this.past.pop();
    if (!range) return;
    for (const chart of this.charts) chart.releaseY();
    this.range = range;
    this.show();
  }

  /** Marks the packets of a finding and zooms to them, with some packets around as context. */
  focus(rows: number[]): void {
    for (const chart of this.charts) chart.marked = rows;
    if (rows.length === 0) {
      this.show();
      return;
    }
    const { trace } = this.view;
    const context = 24;
    const first = Math.max(0, Math.min(...rows) - context);
    const final = Math.min(trace.rows - 1, Math.max(...rows) + context);
    const [from, to] = [trace.time[first], trace.time[final]];
    const pad = Math.max((to - from) * 0.04, 1e-5);
    for (const chart of this.charts) chart.releaseY();
    this.zoom(from - pad, to + pad);
  }

  private hover(chart: Chart, left: number | null, top: number): void {
    if (this.tooltip.pinned) return;
    if (left === null) {
      this.point(-1, null, chart);
      this.tooltip.hide();
      return;
    }
    const plane = chart.plane();
    const px = plane.left + left * plane.ratio;
    const py = plane.top + top * plane.ratio;
    const row = chart.spec.pick(plane, px, py);
    const x = chart.plot.posToVal(left, 'x');
    const time = chart.spec instanceof WaitChart ? timeAt(this.view, x) : x;
    this.point(row, row >= 0 ? this.view.trace.time[row] : time, chart);
    if (row < 0) {
      this.tooltip.hide();
      return;
    }
    const box = chart.plot.over.getBoundingClientRect();
    this.tooltip.show(this.view.trace, row, box.left + left, box.top + top);
  }

  /** Rings a packet in all charts and puts the cursor lines of the other charts at its time. */
  private point(row: number, time: number | null, except?: Chart): void {
    this.current = row;
    this.cursor.textContent = time === null ? '' : `at ${exact(time)}`;
    for (const chart of this.charts) {
      chart.ringAt(row);
      if (chart === except) continue;
      const { spec } = chart;
      const x = time === null ? null : spec instanceof WaitChart ? this.segmentOf(spec, row, time) : time;
      chart.pointAt(x);
    }
  }

  private segmentOf(spec: WaitChart, row: number, time: number): number {
    return (row >= 0 ? spec.place(row)?.[0] : undefined) ?? spec.xOf(time);
  }

  /** Goes to the next or previous packet of the stream, for the keyboard. */
  step(by: number): void {
    const { trace } = this.view;
    let row = this.current;
    if (row < 0) {
      row = trace.time.findIndex((t) => t >= this.range[0]);
      if (row < 0) row = 0;
    } else {
      row += by;
    }
    row = Math.max(0, Math.min(trace.rows - 1, row));
    const time = trace.time[row];
    if (time < this.range[0] || time > this.range[1]) {
      const half = (this.range[1] - this.range[0]) / 2;
      this.pan(time - half);
    }
    this.tooltip.pin(false);
    this.point(row, time);
    const chart = this.charts.find((c) => c.spec.place(row)) ?? this.charts[0];
    const place = chart?.spec.place(row);
    if (!chart || !place) return;
    const box = chart.plot.over.getBoundingClientRect();
    const left = chart.plot.valToPos(place[0], 'x');
    const top = Math.max(0, Math.min(box.height, chart.plot.valToPos(place[1], 'y')));
    this.tooltip.show(trace, row, box.left + left, box.top + top);
  }

  unpoint(): void {
    this.point(-1, null);
    this.tooltip.hide();
  }
}
