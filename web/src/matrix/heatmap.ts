// The heat map: a table whose cells are coloured by the change of a measure against a base, or by its value.
// Each cell has its figure as text, so no reading needs the colour.

import {
  type Axis,
  type Cell,
  type Cells,
  type Chosen,
  cellWords,
  type MatrixPage,
  partly,
} from '../data/matrix';
import { h } from '../dom';
import {
  classOf,
  classWords,
  edge,
  type Scale,
  SHADES,
  scaleOf,
  scaleWords,
  shade,
  signed,
  steps,
} from './scale';
import { type Measured, shownIn } from './unit';

export class HeatMap {
  readonly element = h('figure', { class: 'chart heatmap', 'data-chart': 'heatmap' });
  private readonly reading = h('output', { class: 'reading', 'aria-live': 'polite' });
  private buttons: HTMLElement[][] = [];

  constructor(
    private readonly page: MatrixPage,
    private readonly cells: Cells,
  ) {}

  show(asked: Chosen): void {
    const { axes, units } = this.page.matrix;
    const nothing = nothingToCompare(axes, asked);
    const chosen = nothing === '' ? asked : { ...asked, base: null };
    const across = chosen.x === null ? null : axes[chosen.x];
    const down = chosen.y === null ? null : axes[chosen.y];
    const places = (down?.labels ?? ['']).map((_, row) =>
      (across?.labels ?? ['']).map((_, column) =>
        chosen.pinned.map((value, axis) => (axis === chosen.x ? column : axis === chosen.y ? row : value)),
      ),
    );
    const values = places.flat().flatMap((p) => this.cells.at(p)?.values[chosen.measure]?.[0] ?? []);
    const scale = scaleOf(values);
    const measured = shownIn(units[chosen.measure], Math.max(...values.map(Math.abs), 0));
    const table = h('table', { role: 'grid', 'aria-label': this.caption(chosen, measured) });
    const head = h('tr', {}, h('td', { class: 'corner' }));
    for (const label of across?.labels ?? ['']) head.append(h('th', { scope: 'col' }, label));
    table.append(
      h(
        'thead',
        {},
        h('tr', {}, h('td', {}), h('th', { class: 'axis', colspan: 99 }, across?.name ?? '')),
        head,
      ),
    );
    const body = h('tbody');
    this.buttons = places.map((row, r) => {
      const line = h('tr', {}, h('th', { scope: 'row' }, down?.labels[r] ?? ''));
      body.append(line);
      return row.map((place, c) => {
        const cell = this.draw(place, chosen, measured, scale);
        cell.addEventListener('focus', () => this.read(place, chosen, measured));
        cell.addEventListener('mouseenter', () => this.read(place, chosen, measured));
        cell.addEventListener('keydown', (e) => this.key(e, r, c));
        line.append(cell);
        return cell;
      });
    });
    table.append(body);
    this.buttons[0]?.[0]?.setAttribute('tabindex', '0');
    this.reading.textContent = 'Point at a cell, or go through them with Tab and the arrow keys.';
    const parts = [
      h('h3', {}, this.caption(chosen, measured)),
      nothing !== '' && h('p', { class: 'note' }, nothing),
      h('div', { class: 'scroll' }, h('span', { class: 'axis down' }, down?.name ?? ''), table),
      this.legend(chosen, measured, scale, values.length > 0),
      this.reading,
    ];
    this.element.replaceChildren(...parts.filter((part) => part !== false));
  }

  private caption(chosen: Chosen, measured: Measured): string {
    const { axes, measures, cells } = this.page.matrix;
    const name = measures[chosen.measure];
    // The terminal and summary.csv have means.
    const median = cells.some((cell) => cell.runs > 1) ? '; medians of the repetitions' : '';
    if (!chosen.base) return `${measured.unit === '' ? name : `${name}, ${measured.unit}`}${median}`;
    const below = measured.unit === '' ? '' : `; small: the value in ${measured.unit}`;
    return `${name}: ${changeWords(axes, chosen)}${below}${median}`;
  }

  private draw(place: number[], chosen: Chosen, measured: Measured, scale: Scale): HTMLElement {
    const value = this.cells.at(place)?.values[chosen.measure]?.[0];
    const cell = h('td', { role: 'gridcell', tabindex: '-1' });
    const some = partly(this.cells.at(place), chosen.measure);
    const base = chosen.base && partly(this.cells.base(place, chosen.base), chosen.measure);
    const mark = () => {
      if (some) cell.append(h('small', { class: 'partly' }, some));
      if (base && base !== some) cell.append(h('small', { class: 'partly' }, `base: ${base}`));
    };
    if (!chosen.base) {
      cell.className = value === undefined ? 'no-value' : `shade-${shade(value, scale)}`;
      cell.append(value === undefined ? '–' : measured.text(value));
      mark();
      return cell;
    }
    const change = this.cells.change(place, chosen.measure, chosen.base);
    const at = change === null ? null : classOf(change, chosen.band);
    cell.className = at === null ? 'no-value' : className(at);
    cell.append(change === null ? '–' : signed(change));
    if (value !== undefined) cell.append(h('small', {}, measured.text(value)));
    mark();
    return cell;
  }

  /** What a cell is, in words. */
  private read(place: number[], chosen: Chosen, measured: Measured): void {
    const { axes } = this.page.matrix;
    const where = [chosen.y, chosen.x].flatMap((axis) =>
      axis === null ? [] : [`${axes[axis].name} ${axes[axis].labels[place[axis]]}`],
    );
    const parts = [`${where.join(', ')}: ${this.words(this.cells.at(place), chosen, measured)}`];
    if (chosen.base) {
      const [axis, value] = chosen.base;
      const base = this.words(this.cells.base(place, chosen.base), chosen, measured);
      parts.push(`${axes[axis].labels[value]}: ${base}`);
      const change = this.cells.change(place, chosen.measure, chosen.base);
      if (change !== null) {
        const inBand = classOf(change, chosen.band) === 0;
        parts.push(`change ${signed(change)}${inBand ? ', within the band that does not matter' : ''}`);
      } else parts.push('no change in per cent: a value is missing or the base is 0');
    }
    this.reading.textContent = parts.join(' · ');
  }

  private words(cell: Cell | undefined, chosen: Chosen, measured: Measured): string {
    return cellWords(cell, chosen.measure, measured.unit, measured.text);
  }

  private key(e: KeyboardEvent, row: number, column: number): void {
    const last = this.buttons[row].length - 1;
    const goes: Record<string, [number, number]> = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      Home: [row, 0],
      End: [row, last],
    };
    const to = goes[e.key];
    if (!to || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    const next = this.buttons[to[0]]?.[to[1]];
    if (!next) return;
    this.buttons[row][column].setAttribute('tabindex', '-1');
    next.setAttribute('tabindex', '0');
    next.focus();
  }

  private legend(chosen: Chosen, measured: Measured, scale: Scale, any: boolean): HTMLElement {
    const items = h('ul', { class: 'legend classes', 'aria-label': 'colours' });
    const add = (name: string, text: string) =>
      items.append(h('li', {}, h('i', { class: name, 'aria-hidden': 'true' }), text));
    if (chosen.base) {
      const most = steps(chosen.band).length;
      const used = this.buttons.flat().some((cell) => cell.className === className(-most));
      // What counts or takes time does not fall by more than 100 %.
      for (let at = used ? -most : 1 - most; at <= most; at++)
        add(className(at), classWords(at, chosen.band));
      return items;
    }
    if (!any) return items;
    const ends = (at: number) => measured.text(edge(at, scale));
    for (let at = 0; at < (scale.from === scale.to ? 1 : SHADES); at++) {
      const range = scale.from === scale.to ? ends(0) : `${ends(at)} to ${ends(at + 1)}`;
      add(`shade-${at}`, `${range} ${measured.unit}`.trim());
    }
    if (this.buttons.flat().length > 1) items.append(h('li', {}, scaleWords(scale)));
    return items;
  }
}

/** `filter: change in per cent against none`, or without the value where all of the axis are seen. */
export function changeWords(axes: Axis[], { x, y, pinned, base }: Chosen): string {
  if (!base) return '';
  const [axis, value] = base;
  const { labels } = axes[axis];
  const what = axis === x || axis === y ? 'change' : `change of ${labels[pinned[axis]]}`;
  return `${what} in per cent against ${labels[value]}`;
}

/** Why nothing can be compared; empty where it can. */
export function nothingToCompare(axes: Axis[], { x, y, pinned, base }: Chosen): string {
  if (!base || base[0] === x || base[0] === y || pinned[base[0]] !== base[1]) return '';
  const { name, labels } = axes[base[0]];
  return `There is nothing to compare: ${labels[base[1]]} is both the chosen ${name} and the base. These are the values.`;
}

/** Class of the style of a class of change. */
function className(at: number): string {
  return at === 0 ? 'same' : `${at < 0 ? 'lower' : 'higher'}-${Math.abs(at)}`;
}
