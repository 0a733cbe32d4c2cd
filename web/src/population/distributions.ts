// The page of what a population draws: a histogram of each quantity, with text, mean and percentiles.

import type { DistributionsPage, Quantity, Unit } from '../data/population';
import { h, svg } from '../dom';
import { count } from '../format';
import { topLine } from './app';
import { canvas, type Figure, figure, line, words } from './figure';

const HEIGHT = 150;
const [TOP, BOTTOM] = [16, 22];

const STEPS: Record<Exclude<Unit, 'ppb'>, [number, string][]> = {
  ns: [
    [1e9, ' s'],
    [1e6, ' ms'],
    [1e3, ' µs'],
  ],
  bps: [
    [1e9, ' Gbit/s'],
    [1e6, ' Mbit/s'],
    [1e3, ' kbit/s'],
  ],
  bytes: [
    [1e6, ' MB'],
    [1e3, ' kB'],
    [1, ' B'],
  ],
  count: [[1, '']],
};

/** A value with its unit, three digits. */
export function inUnit(n: number, unit: Unit): string {
  if (unit === 'ppb') return `${Number((n / 1e7).toPrecision(3))} %`;
  const steps = STEPS[unit];
  const [size, name] = steps.find(([s]) => n >= s) ?? steps[steps.length - 1];
  return `${Number((n / size).toPrecision(3))}${name}`;
}

/** The text in the file that a quantity is drawn from, by its key there. */
const KEYS: Record<string, string> = {
  'round-trip time': 'rtt',
  rate: 'rate',
  buffer: 'buffer',
  'mean jitter': 'jitter',
  'requests of a connection': 'requests',
  'bytes of a request': 'request',
  'bytes of a response': 'response',
  'think time': 'think',
  "client's patience": 'client_timeout',
};

export function showDistributions(page: DistributionsPage, place: HTMLElement): void {
  const { shown } = page;
  document.title = `${shown.experiment} · what is drawn · tcplab`;
  document.body.classList.add('long');
  const texts = new Map(shown.texts);
  const figures = shown.quantities.map((q, i) => histogram(q, i, texts));
  const kinds = shown.kinds.map((kind) => {
    const rows = kind.parts.map(([name, part]) =>
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, name),
        h('td', {}, `${(100 * part).toFixed(2)} %`),
        h('td', { class: 'share' }, shareBar(part)),
      ),
    );
    return h('table', { class: 'kinds' }, h('caption', {}, kind.what), h('tbody', {}, ...rows));
  });
  const list = h('dl', { class: 'drawn' });
  for (const [key, text] of shown.texts) list.append(h('dt', {}, key), h('dd', {}, h('code', {}, text)));
  const totals = `${count(shown.draws)} connections drawn with seed ${shown.seed}; nothing is simulated`;
  place.replaceChildren(
    topLine(shown.experiment, totals, page.version, () => {}),
    h(
      'main',
      { class: 'population' },
      h('h2', {}, `What ${shown.experiment} draws`),
      h(
        'p',
        { class: 'note' },
        'Bins are equal in the logarithm. The line marks the mean, the bar below 5 % to 95 %.',
      ),
      h('div', { class: 'histograms' }, ...figures.map((f) => f.element)),
      h('h2', {}, 'Kinds'),
      h('div', { class: 'kind-tables' }, ...kinds),
      h('h2', {}, 'Texts'),
      list,
    ),
  );
  for (const f of figures) f.mount();
  addEventListener('keydown', (e) => {
    if (e.key === 't' && !e.ctrlKey && !e.metaKey && !e.altKey) {
      place.querySelector<HTMLButtonElement>('button.theme')?.click();
    }
  });
}

function shareBar(part: number): SVGElement {
  const bar = svg('rect', { x: 0, y: 2, width: Math.max(0.5, 120 * part), height: 10, class: 'bin' });
  return svg('svg', { width: 120, height: 14, 'aria-hidden': 'true' }, bar);
}

function histogram(q: Quantity, place: number, texts: Map<string, string>): Figure {
  const text = texts.get(KEYS[q.what] ?? '');
  const value = (n: number) => inUnit(n, q.unit);
  const fact = (name: string, n: number) => h('div', {}, h('dt', {}, name), ' ', h('dd', {}, value(n)));
  const facts = h('dl', { class: 'percentiles' }, fact('mean', q.mean));
  for (const [percent, n] of q.percentiles) facts.append(fact(`p${percent}`, n));
  const said = q.percentiles.map(([percent, n]) => `p${percent} ${value(n)}`).join(', ');
  const summary = `Histogram of ${q.what}: ${count(q.count)} drawn, mean ${value(q.mean)}, ${said}.`;
  const from = text && h('p', { class: 'from' }, h('code', {}, text));
  const parts = [from, facts].filter((p): p is HTMLParagraphElement => Boolean(p));
  return figure(`histogram-${place}`, q.what, parts, summary, (width) => draw(q, width));
}

/** All of one value, or bins over their logarithm. */
function draw(q: Quantity, width: number): SVGElement {
  const bins = q.histogram;
  const first = Math.max(1, bins[0][0]);
  const wide = bins.length > 1 ? Math.log(bins[bins.length - 1][0] / first) / (bins.length - 1) : 0;
  const [low, high] = [Math.log(first), Math.log(first) + Math.max(wide, 1e-9) * bins.length];
  const x = (n: number) => 2 + ((Math.log(Math.max(n, first)) - low) / (high - low)) * (width - 4);
  const most = bins.reduce((m, [, n]) => Math.max(m, n), 1);
  const base = HEIGHT - BOTTOM;
  const parts: SVGElement[] = [];
  bins.forEach(([from, n], i) => {
    if (n === 0) return;
    const to = i + 1 < bins.length ? x(bins[i + 1][0]) : width - 2;
    const tall = Math.max(1, (n / most) * (base - TOP));
    const bin = svg('rect', {
      x: x(from),
      y: base - tall,
      width: Math.max(1, to - x(from) - 1),
      height: tall,
      class: 'bin',
    });
    const share = ((100 * n) / q.count).toFixed(1);
    bin.append(
      svg('title', {}, document.createTextNode(`from ${inUnit(from, q.unit)}: ${count(n)} (${share} %)`)),
    );
    parts.push(bin);
  });
  const at = (percent: number) => q.percentiles.find(([p]) => p === percent)?.[1] ?? first;
  parts.push(
    svg('rect', {
      x: x(at(5)),
      y: base + 1,
      width: Math.max(2, x(at(95)) - x(at(5))),
      height: 3,
      class: 'span',
    }),
  );
  parts.push(line(x(q.mean), TOP, x(q.mean), base, 'mean'));
  const side = x(q.mean) > width - 60 ? 'end' : 'start';
  parts.push(words(x(q.mean) + (side === 'end' ? -4 : 4), TOP - 4, 'mean', side));
  parts.push(words(2, HEIGHT - 5, inUnit(first, q.unit)));
  parts.push(words(width - 2, HEIGHT - 5, inUnit(Math.exp(high), q.unit), 'end'));
  return canvas(width, HEIGHT, ...parts);
}
