// What the heat map shows is chosen here: axes, measure, base, the values of the other axes, the band.

import type { Chosen, MatrixPage } from '../data/matrix';
import { h } from '../dom';

export function choosers(page: MatrixPage, chosen: Chosen, changed: () => void): HTMLElement {
  const { axes, measures } = page.matrix;
  const place = h('form', { class: 'choosers', 'aria-label': 'What the map shows' });
  place.addEventListener('submit', (e) => e.preventDefault());
  const numbers = (names: string[]): [string, string][] => names.map((name, i) => [String(i), name]);

  const chooser = (
    id: string,
    label: string,
    options: [string, string][],
    value: string,
    choose: (v: string) => void,
  ) => {
    const select = h('select', { 'data-choose': id });
    for (const [v, text] of options) select.append(h('option', { value: v, selected: v === value }, text));
    select.addEventListener('change', () => {
      choose(select.value);
      draw();
      changed();
      place.querySelector<HTMLSelectElement>(`select[data-choose="${id}"]`)?.focus();
    });
    return h('label', {}, h('span', {}, label), select);
  };

  const put = (axis: 'x' | 'y', value: number) => {
    const other = axis === 'x' ? 'y' : 'x';
    if (chosen[other] === value) chosen[other] = chosen[axis];
    chosen[axis] = value;
  };

  const draw = () => {
    const parts = [
      chooser('measure', 'measure', numbers(measures), String(chosen.measure), (v) => {
        chosen.measure = Number(v);
      }),
    ];
    const names = numbers(axes.map((axis) => axis.name));
    if (chosen.x !== null && chosen.y !== null) {
      parts.push(
        chooser('x', 'to the right', names, String(chosen.x), (v) => put('x', Number(v))),
        chooser('y', 'downwards', names, String(chosen.y), (v) => put('y', Number(v))),
      );
    }
    axes.forEach((axis, i) => {
      if (i === chosen.x || i === chosen.y) return;
      parts.push(
        chooser(`axis-${i}`, axis.name, numbers(axis.labels), String(chosen.pinned[i]), (v) => {
          chosen.pinned[i] = Number(v);
        }),
      );
    });
    const bases: [string, string][] = [['', 'nothing: the values']];
    // Variants first: they are what is mostly compared.
    const order = axes.map((_, i) => i).sort((a, b) => rank(axes[a].name) - rank(axes[b].name));
    for (const i of order)
      axes[i].labels.forEach((label, v) => {
        bases.push([`${i}:${v}`, `${axes[i].name} ${label}`]);
      });
    parts.push(
      chooser('base', 'compared with', bases, chosen.base?.join(':') ?? '', (v) => {
        const [axis, value] = v.split(':').map(Number);
        chosen.base = v === '' ? null : [axis, value];
      }),
    );
    if (chosen.base) {
      const band = h('input', { type: 'number', min: 0, max: 100, step: 'any', value: chosen.band });
      band.addEventListener('input', () => {
        if (!band.validity.valid || band.value === '') return;
        chosen.band = Number(band.value);
        changed();
      });
      parts.push(h('label', {}, h('span', {}, 'no matter, ± %'), band));
    }
    place.replaceChildren(...parts);
  };
  draw();
  return place;
}

const rank = (name: string): number => ['variant', 'stack'].indexOf(name) >>> 0;
