// The page of a population's result: tables, forest plot, distributions, outliers.

import type { PopulationPage } from '../data/population';
import { h } from '../dom';
import { count } from '../format';
import { themeButton } from '../ui/theme';
import { cdf } from './cdf';
import { Explorer } from './explorer';
import { forest } from './forest';
import { armTable, differenceTable, missing, undecided } from './tables';

/** The top line of both pages. */
export function topLine(name: string, totals: string, version: string, changed: () => void): HTMLElement {
  return h(
    'header',
    { class: 'top' },
    h('h1', {}, 'tcplab'),
    h('span', { class: 'file' }, name),
    h('span', { class: 'totals' }, totals),
    h('span', { class: 'spring' }),
    themeButton(changed),
    h('span', { class: 'version' }, `tcplab ${version}`),
  );
}

/** What stands before the tables, and what ends the page's keys when another result is shown in its place. */
export interface Frame {
  head: Node[];
  signal?: AbortSignal;
}

export function showPopulation(page: PopulationPage, place: HTMLElement, frame: Frame = { head: [] }): void {
  const { result } = page;
  const explorer = new Explorer(page);
  const part = result.shard === '1/1' ? '' : `, shard ${result.shard}`;
  const totals = [
    result.stack,
    `seed ${result.seed}`,
    `${count(result.connections)} connections in each of ${result.arms.length} arms${part}`,
  ];
  document.title = `${result.experiment} · tcplab`;
  document.body.classList.add('long');
  const charts = [
    forest(page),
    cdf('cdf-all', 'Latency of all responses', result.arms, (a) => a.latency, 'No response was finished.'),
    cdf(
      'cdf-small',
      'Latency of responses below 4 kB',
      result.arms,
      (a) => a.latency_lt4k,
      'No such response.',
    ),
    cdf(
      'cdf-recovery',
      'Time of recoveries',
      result.arms,
      (a) => a.recovery,
      'No arm had a recovery that came to its end.',
    ),
  ];
  const [plot, ...curves] = charts;
  const several = result.arms.length > 1;
  const wants = undecided(result);
  place.replaceChildren(
    topLine(result.experiment, totals.join(' · '), page.version, () => explorer.repaint()),
    h(
      'main',
      { class: 'population' },
      h('h2', {}, result.title ?? result.experiment),
      ...frame.head,
      result.stopped && h('p', { class: 'note' }, 'The run stopped early: every row was decided.'),
      armTable(result),
      several && differenceTable(result),
      several && wants !== '' && h('p', { class: 'note' }, wants),
      ...(several ? missing(result) : []).map((text) => h('p', { class: 'note' }, text)),
      several && plot.element,
      h('h2', {}, 'Distributions'),
      h('div', { class: 'curves' }, ...curves.map((c) => c.element)),
      several && explorer.element,
    ),
  );
  for (const chart of several ? charts : curves) chart.mount();
  if (several) explorer.mount();
  const keys = (e: KeyboardEvent): void => {
    const target = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || target.matches('input, select, textarea')) return;
    if (e.key === 't') place.querySelector<HTMLButtonElement>('button.theme')?.click();
    else if (e.key === 'n') explorer.step(1);
    else if (e.key === 'p') explorer.step(-1);
  };
  addEventListener('keydown', keys, { signal: frame.signal });
}
