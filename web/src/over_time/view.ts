// Charts over time: the selection (a link direction, the kind of lines, one value of each other
// axis) and its charts.

import type { Axis, MatrixPage } from '../data/matrix';
import type { OverTime, PointLines } from '../data/over_time';
import { h } from '../dom';
import { plural } from '../format';
import { Board } from './board';
import { type Row, shapesOf } from './shapes';

/** Lines in one chart at most: more cannot be told apart. */
const MAX_LINES = 16;

/** What the lines are. */
export function repetitions({ points, runs_drawn: drawn }: OverTime): string {
  const runs = points.map((point) => point.runs);
  const [least, most] = [Math.min(...runs), Math.max(...runs)];
  if (most <= 1)
    return 'Lines show the mean of each step of time, bands the least and the most; bands of queues include every packet.';
  const count = least < most ? `${least} to ${most}` : most;
  const thin = drawn < most ? `The first ${drawn} are thin lines.` : 'Thin lines are single repetitions.';
  return `${count} repetitions, median in bold. ${drawn > 0 ? thin : ''}`.trim();
}

export class OverTimeView {
  readonly element = h('section', { class: 'over-time', 'data-part': 'over-time' });
  private readonly form = h('form', { class: 'choosers', 'aria-label': 'What is drawn over time' });
  private readonly place = h('div');
  private readonly axes: Axis[];
  private way = 0;
  /** The axis whose values are the lines. */
  private across: number | null;
  private pinned: number[];
  /** None: what suits the lines. */
  private log: boolean | null = null;
  private board: Board | null = null;

  constructor(
    matrix: MatrixPage['matrix'],
    private readonly over: OverTime,
  ) {
    this.axes = matrix.axes;
    const variant = this.axes.findIndex((axis) => axis.name === 'variant');
    // Where there are no variants, what moves fastest.
    const own = this.axes.map((_, i) => i).filter((i) => this.axes[i].name !== 'stack');
    this.across = variant >= 0 ? variant : (own.at(-1) ?? (this.axes.length > 0 ? 0 : null));
    this.pinned = [...(over.points[0]?.at ?? [])];
    this.form.addEventListener('submit', (e) => e.preventDefault());
    this.element.append(h('h2', {}, 'Over time'), ...this.notes(), this.form, this.place);
  }

  mount(): void {
    this.choosers();
    this.draw();
  }

  /** Takes the sizes of the page, or of paper. */
  fit(): void {
    this.board?.fit();
  }

  repaint(): void {
    this.board?.repaint();
  }

  private notes(): HTMLElement[] {
    const { over } = this;
    const words = [
      repetitions(over),
      over.groups.length === 0 && 'RTT and goodput need `tcp_info_every` in the table `run`.',
      over.ways_left_out > 0 &&
        `${plural(over.ways_left_out, 'way')} of links with shorter queues are left out.`,
      over.points_left_out > 0 && `${plural(over.points_left_out, 'later point')} are left out.`,
    ];
    const keys = 'Drag to zoom, Ctrl and wheel too; double click shows all again.';
    return [h('p', { class: 'note' }, [...words, keys].filter(Boolean).join(' '))];
  }

  private choosers(): void {
    const parts: HTMLElement[] = [];
    const add = (
      id: string,
      name: string,
      options: [string, string][],
      value: string,
      take: (v: string) => void,
    ) => {
      const select = h('select', { 'data-choose': `over-${id}` });
      for (const [v, text] of options) select.append(h('option', { value: v, selected: v === value }, text));
      select.addEventListener('change', () => {
        take(select.value);
        this.choosers();
        this.draw();
        this.form.querySelector<HTMLSelectElement>(`select[data-choose="over-${id}"]`)?.focus();
      });
      parts.push(h('label', {}, h('span', {}, name), select));
    };
    const numbered = (names: string[]): [string, string][] => names.map((name, i) => [String(i), name]);
    if (this.over.ways.length > 1) {
      add('way', 'link', numbered(this.over.ways), String(this.way), (v) => {
        this.way = Number(v);
      });
    }
    if (this.axes.length > 1) {
      const names = this.axes.map((axis) => axis.name);
      add('across', 'a line for each', numbered(names), String(this.across), (v) => {
        this.across = Number(v);
      });
    }
    this.axes.forEach((axis, i) => {
      if (i === this.across) return;
      add(`axis-${i}`, axis.name, numbered(axis.labels), String(this.pinned[i]), (v) => {
        this.pinned[i] = Number(v);
      });
    });
    if (this.over.ways.length > 0) {
      const scales: [string, string][] = [
        ['', 'as it suits'],
        ['linear', 'linear'],
        ['log', 'logarithmic'],
      ];
      const value = this.log === null ? '' : this.log ? 'log' : 'linear';
      add('scale', 'scale of the queue', scales, value, (v) => {
        this.log = v === '' ? null : v === 'log';
      });
    }
    this.form.replaceChildren(...parts);
  }

  /** The points that are drawn, and what each is called. */
  private rows(): Row[] {
    const same = (point: PointLines) => point.at.every((v, i) => i === this.across || v === this.pinned[i]);
    const name = (point: PointLines) =>
      this.across === null ? '' : this.axes[this.across].labels[point.at[this.across]];
    const rows = this.over.points.filter(same).map((point, number) => ({ name: name(point), point, number }));
    return rows.slice(0, MAX_LINES);
  }

  private draw(): void {
    const hidden = this.board?.hidden;
    this.board?.destroy();
    const rows = this.rows();
    const shapes = shapesOf(this.over, rows, this.way, this.log);
    this.board = new Board(shapes, rows, hidden);
    this.place.replaceChildren(this.board.element);
    this.board.mount();
  }
}
