// The page of a comparison, or of a report with several sections: their verdicts, then the table of each.

import type { ComparePage, CompareRow, Part } from '../data/compare';
import { h } from '../dom';
import { plural } from '../format';
import { topLine } from '../population/app';
import { themeByKey } from '../ui/theme';
import { change, runs } from './runs';

export function showComparison(page: ComparePage, place: HTMLElement): void {
  const several = page.parts.length > 1 || page.parts.some((part) => part.title !== '');
  document.title = `${page.title} · tcplab`;
  document.body.classList.add('long');
  place.replaceChildren(
    topLine(page.title, '', page.version, () => {}),
    h(
      'main',
      { class: 'population compare' },
      several && contents(page.parts),
      ...page.parts.flatMap((part, i) => section(part, several ? `s${i}` : null)),
    ),
  );
  themeByKey(place);
}

const verdict = (word: string, kind: string): HTMLElement => h('span', { class: `says ${kind}` }, word);

/** What every section says, with a link to it. */
function contents(parts: Part[]): HTMLElement {
  const rows = parts.map((part, i) => [
    h('a', { href: `#s${i}` }, part.title),
    verdict(...part.verdict),
    h('span', { class: 'faint' }, part.line),
  ]);
  return table('sections', ['section', 'verdict', ''], rows);
}

function section(part: Part, id: string | null): (Node | false)[] {
  const [before, after] = part.sources;
  return [
    id !== null && h('h2', { id, class: 'part' }, part.title),
    h('p', {}, part.not_run ? `Not run: ${part.line}` : part.verdicts),
    part.rows.length > 0 && metrics(part),
    part.left_out > 0 && h('p', { class: 'note' }, `${plural(part.left_out, 'equal row')} not shown`),
    ...titled('Tests', part.suites.length > 0 && suites(part)),
    ...titled(
      'Objections of a careful reader',
      part.flags.length > 0 &&
        h('ul', {}, ...part.flags.map(([text, rows]) => h('li', {}, text, rows.length > 0 && list(rows)))),
    ),
    ...titled('How to read it', part.legend.length > 0 && list(part.legend)),
    ...titled('Sources before', before.length > 0 && list(before)),
    ...titled('Sources after', after.length > 0 && list(after)),
  ];
}

const titled = (title: string, node: Node | false): Node[] => (node ? [h('h3', {}, title), node] : []);

const list = (lines: string[]): HTMLElement =>
  h('ul', { class: 'faint' }, ...lines.map((line) => h('li', {}, line)));

/** The columns behind the metric and its unit, and whether they are numbers. */
const COLUMNS = ['before', 'after', 'runs: before above, after below', 'change %', 'interval'];

function metrics(part: Part): HTMLElement {
  const reach = part.reach.toFixed(0);
  const heads = ['metric', 'unit', ...COLUMNS, `−${reach} % to +${reach} %`, 'p', 'runs', 'verdict'];
  return table(
    'metrics',
    heads,
    part.rows.map((row) => cells(row, part)),
  );
}

function cells(row: CompareRow, part: Part): (Node | string | null)[] {
  const [before, after, changed, interval, p, count, word] = row.texts;
  const drawn = h('div', {}, runs(row), row.beside !== '' && h('div', { class: 'faint beside' }, row.beside));
  const says = verdict(word, row.class);
  if (row.why !== '') says.title = row.why;
  const picture = change(row, part.reach, part.band_percent);
  return [row.label, row.unit, before, after, drawn, changed, interval, picture, p, count, says];
}

function suites(part: Part): HTMLElement {
  const heads = ['suite', 'passed', 'failed', 'skipped', 'verdict', 'newly failed'];
  return table(
    'suites',
    heads,
    part.suites.map(([name, passed, failed, skipped, word, newly]) => [
      name,
      passed,
      failed,
      skipped,
      verdict(word, word),
      newly,
    ]),
  );
}

function table(kind: string, heads: string[], rows: (Node | string | null)[][]): HTMLElement {
  const head = h('tr', {}, ...heads.map((name) => h('th', { scope: 'col' }, name)));
  const body = rows.map((row) => h('tr', {}, ...row.map((cell) => h('td', {}, cell))));
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': heads[0] },
    h('table', { class: kind }, h('thead', {}, head), h('tbody', {}, ...body)),
  );
}
