// Where the time went, as a band under the time-sequence graph: the same x axis, one colour for each class.

import type { Classes } from '../data/budget';
import { paintSpans, type Spans, spanAt } from '../data/spans';
import { lowerBound } from '../data/view';
import { h } from '../dom';
import { exact, micros } from '../format';
import { swatchOf } from '../ui/budget';
import type { Plane } from './chart';
import { ink } from './palette';

export interface BandCallbacks {
  /** The pointer is at a time, or nowhere. */
  hover(time: number | null): void;
  zoom(from: number, to: number): void;
  /** Brings a time into view. */
  reveal(time: number): void;
}

export class Band {
  readonly element = h('section', { class: 'band', 'data-chart': 'band' });
  private readonly canvas = h('canvas', {});
  private readonly track: HTMLElement;
  private readonly readout = h('output', { class: 'readout' });
  private range: [number, number] = [0, 1];
  private current = -1;

  constructor(
    private readonly spans: Spans,
    private readonly classes: Classes,
    private readonly callbacks: BandCallbacks,
  ) {
    const n = spans.to.length;
    this.track = h(
      'div',
      {
        class: 'track',
        tabindex: 0,
        role: 'slider',
        'aria-label': 'Where the time went: arrow keys go from span to span, Enter shows one',
        'aria-valuemin': 0,
        'aria-valuemax': n - 1,
        'aria-valuenow': 0,
        'aria-valuetext': this.text(0),
      },
      this.canvas,
    );
    const legend = h('span', { class: 'legend' });
    for (const kind of [...new Set(spans.kind)].sort((a, b) => a - b))
      legend.append(h('span', {}, swatchOf(classes, kind), classes.words(kind)));
    this.element.append(
      h('header', {}, h('h3', {}, 'Where the time went'), legend, this.readout),
      this.track,
    );
    this.track.addEventListener('pointermove', (e) => this.point(this.timeOf(e)));
    this.track.addEventListener('pointerleave', () => this.point(null));
    this.track.addEventListener('click', (e) => this.choose(spanAt(spans, this.timeOf(e))));
    this.track.addEventListener('dblclick', () => this.zoom());
    this.track.addEventListener('focus', () =>
      this.choose(this.current < 0 ? this.firstVisible() : this.current),
    );
    this.track.addEventListener('blur', () => this.choose(-1));
    this.track.addEventListener('keydown', (e) => this.key(e));
  }

  /** Draws a range; `plane` is the plot above, whose edges the band shares. */
  show(from: number, to: number, plane: Plane): void {
    this.range = [from, to];
    const { ratio } = plane;
    this.track.style.marginLeft = `${plane.left / ratio}px`;
    this.track.style.width = `${plane.width / ratio}px`;
    const height = Math.round(this.track.clientHeight * ratio) || 1;
    this.canvas.width = plane.width;
    this.canvas.height = height;
    const ctx = this.canvas.getContext('2d');
    if (!ctx) return;
    const inks = Array.from({ length: this.classes.length }, (_, kind) => ink(this.classes.ink(kind)));
    const drawn = paintSpans(this.spans, this.range, plane.width, inks.length, (kind, x, width) => {
      ctx.fillStyle = inks[kind] ?? '#888';
      ctx.fillRect(x, 0, width, height);
    });
    this.element.dataset.drawn = String(drawn);
    this.mark(ctx, ratio, height);
  }

  /** A frame around the chosen span. */
  private mark(ctx: CanvasRenderingContext2D, ratio: number, height: number): void {
    if (this.current < 0) return;
    const scale = this.canvas.width / (this.range[1] - this.range[0]);
    const x = (this.spans.from[this.current] - this.range[0]) * scale;
    const width = Math.max(4 * ratio, (this.spans.to[this.current] - this.spans.from[this.current]) * scale);
    ctx.lineWidth = 2 * ratio;
    ctx.strokeStyle = ink('page');
    ctx.strokeRect(x, ratio, width, height - 2 * ratio);
    ctx.setLineDash([3 * ratio, 3 * ratio]);
    ctx.strokeStyle = ink('text');
    ctx.strokeRect(x, ratio, width, height - 2 * ratio);
    ctx.setLineDash([]);
  }

  /** `server thinks: 0.512000 s to 0.556100 s, 44.10 ms` */
  private text(index: number): string {
    const { from, to, kind } = this.spans;
    if (!(index >= 0 && index < to.length)) return '';
    const length = micros((to[index] - from[index]) * 1e6);
    return `${this.classes.words(kind[index])}: ${exact(from[index])} to ${exact(to[index])}, ${length}`;
  }

  private timeOf(e: MouseEvent): number {
    const box = this.track.getBoundingClientRect();
    return this.range[0] + ((e.clientX - box.left) / box.width) * (this.range[1] - this.range[0]);
  }

  private point(time: number | null): void {
    const index = time === null ? this.current : spanAt(this.spans, time);
    this.readout.textContent = this.text(index);
    this.callbacks.hover(time);
  }

  private firstVisible(): number {
    const { to } = this.spans;
    return Math.min(
      to.length - 1,
      lowerBound(to.length, (k) => to[k], this.range[0]),
    );
  }

  private choose(index: number): void {
    this.current = index;
    this.readout.textContent = this.text(index);
    if (index >= 0) {
      this.track.setAttribute('aria-valuenow', String(index));
      this.track.setAttribute('aria-valuetext', this.text(index));
      const middle = (this.spans.from[index] + this.spans.to[index]) / 2;
      this.callbacks.reveal(middle);
    } else {
      this.callbacks.reveal(this.range[0]);
    }
  }

  private zoom(): void {
    if (this.current < 0) return;
    const [from, to] = [this.spans.from[this.current], this.spans.to[this.current]];
    const pad = Math.max(1e-5, (to - from) * 0.3);
    this.callbacks.zoom(from - pad, to + pad);
  }

  private key(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const final = this.spans.to.length - 1;
    const acts: Record<string, () => void> = {
      ArrowLeft: () => this.choose(Math.max(0, this.current - 1)),
      ArrowRight: () => this.choose(Math.min(final, this.current + 1)),
      Home: () => this.choose(0),
      End: () => this.choose(final),
      Enter: () => this.zoom(),
    };
    const act = acts[e.key];
    if (!act) return;
    e.preventDefault();
    // The page's own keys move the charts.
    e.stopPropagation();
    act();
  }
}
