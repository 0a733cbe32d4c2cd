// The tables of a result, as the terminal prints them.

import type { Arm, Effect, EffectCell, Result, Row, Verdict } from '../data/population';
import { h } from '../dom';
import { count } from '../format';
import { percent, shortTime } from './scale';

const MARKS: Record<Verdict, string> = { lower: '↓', higher: '↑', same: '=', undecided: '?' };
/** Verdicts that a row without a per cent can have: the baseline had none of it. */
const DECIDED: ReadonlySet<string> = new Set(['lower', 'higher']);

function table(kind: string, caption: string, heads: string[], rows: (string | Node)[][]): HTMLElement {
  const head = h('tr', {}, ...heads.map((name) => h('th', { scope: 'col' }, name)));
  const body = rows.map((cells) =>
    h('tr', {}, h('th', { scope: 'row' }, cells[0]), ...cells.slice(1).map((cell) => h('td', {}, cell))),
  );
  // Wide tables scroll by themselves; keys reach that only with a tab stop.
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    h('table', { class: kind }, h('caption', {}, caption), h('thead', {}, head), h('tbody', {}, ...body)),
  );
}

const time = (us: number | null): string => (us === null ? '–' : shortTime(us));

/** What each arm did. */
export function armTable(result: Result): HTMLElement {
  const heads = ['arm', 'responses', 'unfinished', 'lossy connections', 'mean', 'p50', 'p95', 'p99'];
  const more = ['without the slowest 1 %', 'recoveries', 'mean recovery'];
  const row = (arm: Arm) => [
    arm.name,
    count(arm.latency.count),
    count(Math.max(0, arm.requests - arm.latency.count)),
    `${((100 * arm.lossy_connections) / Math.max(1, arm.connections)).toFixed(2)} %`,
    ...[arm.latency.mean_us, arm.latency.p50_us, arm.latency.p95_us, arm.latency.p99_us].map(time),
    time(arm.latency.trimmed_mean_us),
    count(arm.recovery.count),
    time(arm.recovery.mean_us),
  ];
  return table(
    'arms',
    'What each arm did: times of responses, of recoveries',
    [...heads, ...more],
    result.arms.map(row),
  );
}

/** Each quantity against the baseline. */
export function differenceTable(result: Result): HTMLElement {
  const others = result.arms.map((a) => a.name).filter((name) => name !== result.baseline);
  const groups = new Map<string, Row[]>();
  for (const row of result.rows) groups.set(row.id, [...(groups.get(row.id) ?? []), row]);
  const rows = [...groups.values()].map((group) => [
    group[0].title,
    value(group[0]),
    ...others.map((arm) => cell(group.find((row) => row.arm === arm))),
  ]);
  const caption =
    `Per cent against ${result.baseline}, with 95 % intervals (paired bootstrap over groups of connections). ` +
    `↓ lower and ↑ higher, at a false discovery rate of ${result.level * 100} % over the table; = the same, inside the band; ? undecided`;
  return table('differences', caption, ['quantity', result.baseline, ...others], rows);
}

function value(row: Row): string {
  if (row.baseline === null) return '–';
  return amount(row.baseline, row);
}

function amount(value: number, row: Row): string {
  const unit = row.unit.startsWith('per 1000 ') ? '/1000' : row.unit;
  return `${value.toFixed(Math.abs(value) >= 100 ? 1 : 2)} ${unit}`;
}

function cell(row: Row | undefined): Node {
  if (row && row.percent === null && row.value !== null && row.missing === undefined) {
    // The baseline is 0: no per cent, but perhaps a verdict.
    return h(
      'span',
      { class: `verdict ${row.verdict}` },
      `${amount(row.value, row)} `,
      h('abbr', { title: row.verdict, 'aria-label': row.verdict }, MARKS[row.verdict]),
    );
  }
  if (!row || row.percent === null) {
    return h('span', { class: 'faint', title: row?.missing ?? 'no value' }, '–');
  }
  const range = row.interval ? `[${row.interval.map(percent).join(', ')}]`.replaceAll(' %', '') : '';
  const more = row.more_connections;
  const wants = more === null ? undefined : `about ${count(more)} connections more would decide it`;
  return h(
    'span',
    { class: `verdict ${row.verdict}`, title: wants },
    h('b', {}, percent(row.percent)),
    ` ${range} `,
    h('abbr', { title: row.verdict, 'aria-label': row.verdict }, MARKS[row.verdict]),
  );
}

/** Every row of an arm from variant to variant. */
export function effectTable(arm: string, baseline: string, effects: Effect[]): HTMLElement {
  const own = effects.filter((e) => e.arm === arm);
  const names = own[0]?.cells.map((c) => c.variant) ?? [];
  const rows = own.map((effect) => [effect.title, ...effect.cells.map(effectCell)]);
  return table('differences', `${arm} in per cent of ${baseline}, by variant`, ['quantity', ...names], rows);
}

function effectCell(cell: EffectCell): Node {
  if (cell.percent === null && !DECIDED.has(cell.verdict))
    return h('span', { class: 'faint', title: 'no value' }, '–');
  const range = cell.interval ? `95 %: ${cell.interval.map(percent).join(' to ')}` : undefined;
  return h(
    'span',
    { class: `verdict ${cell.verdict}`, title: range },
    h('b', {}, cell.percent === null ? `${cell.verdict}, from 0` : percent(cell.percent)),
    ' ',
    h('abbr', { title: cell.verdict, 'aria-label': cell.verdict }, MARKS[cell.verdict]),
  );
}

/** Why some rows have no value; once for each quantity. */
export function missing(result: Result): string[] {
  const lines = result.rows.flatMap((r) => (r.missing ? [`–: ${r.title}: ${r.missing}`] : []));
  return [...new Set(lines)];
}

/** How many connections the undecided rows want. */
export function undecided(result: Result): string {
  const rows = result.rows.filter((r) => r.verdict === 'undecided' && r.percent !== null);
  const wants = rows.flatMap((r) => (r.more_connections === null ? [] : [r.more_connections]));
  if (wants.length === 0) return '';
  const fewest = count(wants.reduce((a, b) => Math.min(a, b)));
  const most = count(wants.reduce((a, b) => Math.max(a, b)));
  return (
    `${rows.length} of ${result.rows.length} rows are undecided; about ${fewest} connections more would decide the first of ` +
    `them, ${most} all, if the differences are what was measured.`
  );
}
