// The page of a result of points: the heat map, then every cell as a table.

import { Cells, type Chosen, type MatrixPage, partly } from '../data/matrix';
import { h } from '../dom';
import { count, plural } from '../format';
import { OverTimeView } from '../over_time/view';
import { topLine } from '../population/app';
import { onPrint } from '../ui/print';
import { themeByKey } from '../ui/theme';
import { choosers } from './choosers';
import { HeatMap } from './heatmap';
import { notes } from './notes';
import { shownIn } from './unit';

/** Rows of the table at most. */
const MAX_ROWS = 2_000;

/** How the charts over time come. */
const NOT_SAMPLED =
  'There are no charts over time: set `tcp_info_every` (RTT, goodput) and `link_every` (queues) in the table `run`.';

export function showMatrix(page: MatrixPage, place: HTMLElement): void {
  const { matrix } = page;
  const cells = new Cells(matrix.cells);
  const map = new HeatMap(page, cells);
  const chosen: Chosen = { ...matrix.open, pinned: [...matrix.open.pinned], band: page.band_percent };
  document.title = `${page.experiment} · tcplab`;
  document.body.classList.add('long');
  const runs = matrix.cells.reduce((sum, cell) => sum + cell.runs, 0);
  const totals = matrix.axes.map((axis) => `${axis.labels.length} × ${axis.name}`);
  const left = matrix.left_out > 0 && `${plural(matrix.left_out, 'more point')} stand in summary.json.`;
  const over = page.over_time && new OverTimeView(matrix, page.over_time);
  const able = matrix.measures.length > 0 && matrix.cells.length > 0;
  place.replaceChildren(
    topLine(page.experiment, [...totals, plural(runs, 'run')].join(' · '), page.version, () =>
      over?.repaint(),
    ),
    h(
      'main',
      { class: 'population matrix' },
      h('h2', {}, page.title ?? page.experiment),
      notes(page.notes ?? []),
      left && h('p', { class: 'note' }, left),
      able && choosers(page, chosen, () => map.show(chosen)),
      able ? map.element : h('p', { class: 'nothing' }, 'The result has no measure.'),
      over?.element ?? h('p', { class: 'note' }, NOT_SAMPLED),
      h('h2', {}, 'All points'),
      table(page),
    ),
  );
  if (able) map.show(chosen);
  over?.mount();
  themeByKey(place);
  onPrint(() => over?.fit());
}

function table(page: MatrixPage): HTMLElement {
  const { axes, measures, cells } = page.matrix;
  const units = page.matrix.units.map((unit, i) =>
    shownIn(unit, Math.max(0, ...cells.map((cell) => Math.abs(cell.values[i]?.[0] ?? 0)))),
  );
  const head = h('tr', {}, ...axes.map((axis) => h('th', { scope: 'col' }, axis.name)));
  measures.forEach((name, i) => {
    head.append(h('th', { scope: 'col', class: 'number' }, name, h('small', {}, ` ${units[i].unit}`)));
  });
  const body = h('tbody');
  for (const cell of cells.slice(0, MAX_ROWS)) {
    const row = h('tr', {}, ...axes.map((axis, i) => h('td', {}, axis.labels[cell.at[i]])));
    measures.forEach((_, i) => {
      const value = cell.values[i];
      const some = partly(cell, i);
      const mark = some && h('small', { class: 'partly' }, some);
      const text = value ? units[i].text(value[0]) : '–';
      row.append(h('td', { class: 'number', title: cell.why?.[i] }, text, mark));
    });
    body.append(row);
  }
  const more = cells.length - MAX_ROWS;
  const words = more > 0 ? `The first ${count(MAX_ROWS)} of ${count(cells.length)}. ` : '';
  const many = cells.some((cell) => cell.runs > 1) ? 'Medians of the repetitions.' : '';
  return h(
    'div',
    { class: 'scroll' },
    h('table', { class: 'points' }, h('caption', {}, words + many), h('thead', {}, head), body),
  );
}
