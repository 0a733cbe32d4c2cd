// Outliers: a list, and the chosen one in both arms, side by side, on the same axes.

import { Chart } from '../charts/chart';
import type { Look, PopulationPage, Side } from '../data/population';
import { h } from '../dom';
import { count } from '../format';
import { chartHead } from '../ui/legend';
import { difference, shortTime } from './scale';
import { type Extent, extent, SequenceSpec } from './sequence';

const SMALLEST = 2e-6;

export class Explorer {
  readonly element = h('section', { class: 'explorer', 'aria-labelledby': 'explorer-title' });
  private readonly list = h('ul', { class: 'outliers' });
  private readonly detail = h('div', { class: 'detail' });
  private charts: Chart[] = [];
  private range: [number, number] = [0, 1];
  private full: [number, number] = [0, 1];
  private readonly sizes = new ResizeObserver(() => {
    for (const chart of this.charts) chart.resize();
  });
  private chosen = -1;

  constructor(private readonly page: PopulationPage) {
    const { looks, result } = page;
    const more = result.outliers.length - looks.length;
    const text =
      looks.length === 0
        ? 'No connection took longer or shorter in an arm than in the baseline.'
        : `Connections whose responses took much longer or shorter than in ${result.baseline}, run again for this page, ` +
          `on the same network.${more > 0 ? ` ${count(more)} more stand in summary.json.` : ''}`;
    this.element.append(
      h('h2', { id: 'explorer-title' }, 'Outliers'),
      h('p', { class: 'note' }, text),
      h('div', { class: 'pair' }, this.list, this.detail),
    );
    looks.forEach((look, i) => {
      const words = [
        h('b', {}, `${look.arm} ${difference(look.difference_us)}`),
        ` connection ${count(look.connection)}`,
      ];
      const button = h(
        'button',
        { type: 'button', 'data-outlier': i, onclick: () => this.choose(i) },
        ...words,
      );
      this.list.append(h('li', {}, button));
    });
  }

  mount(): void {
    this.sizes.observe(this.element);
    if (this.page.looks.length > 0) this.choose(0);
  }

  repaint(): void {
    for (const chart of this.charts) chart.redraw();
  }

  /** The next or the one before. */
  step(by: number): void {
    const n = this.page.looks.length;
    if (n > 0) this.choose((this.chosen + by + n) % n);
  }

  choose(index: number): void {
    const look = this.page.looks[index];
    if (!look) return;
    this.chosen = index;
    this.list.querySelectorAll('button').forEach((b, i) => {
      if (i === index) b.setAttribute('aria-current', 'true');
      else b.removeAttribute('aria-current');
    });
    for (const chart of this.charts) chart.destroy();
    this.charts = [];
    const range = extent(look.sides);
    [this.full, this.range] = [range.time, range.time];
    const graphs = h('div', { class: 'graphs' });
    this.detail.replaceChildren(...this.facts(look), graphs);
    look.sides.forEach((side, i) => {
      this.graph(graphs, side, i === 0 ? 'baseline' : 'arm', range);
    });
    this.show();
  }

  private facts(look: Look): HTMLElement[] {
    const list = h('dl', { class: 'drawn' });
    for (const [name, words] of look.drawn) list.append(h('dt', {}, name), h('dd', {}, words));
    const command = h('code', { class: 'command' }, look.command);
    list.append(h('dt', {}, 'run it again'), h('dd', {}, command));
    return [
      h(
        'h3',
        {},
        `Connection ${count(look.connection)}: ${look.arm} ${difference(look.difference_us)} against ${look.sides[0].arm}`,
      ),
      list,
      sideTable(look),
    ];
  }

  private graph(place: HTMLElement, side: Side, which: 'baseline' | 'arm', range: Extent): void {
    const spec = new SequenceSpec(side, which, range);
    const body = h('div', {
      class: 'plot',
      tabindex: spec.empty ? undefined : 0,
      role: 'img',
      'aria-label': spec.summary,
    });
    const section = h('section', { class: `chart ${spec.id}`, 'data-chart': spec.id });
    const said = h('output', { class: 'reading' });
    section.append(
      chartHead(spec, () => this.show()),
      body,
      said,
    );
    const left = side.points.all - side.points.kind.length;
    if (left > 0) section.append(h('p', { class: 'warn' }, `${count(left)} later packets are left out.`));
    place.append(section);
    if (spec.empty) {
      section.classList.add('empty');
      body.append(h('p', {}, spec.empty));
      return;
    }
    const chart = new Chart(spec, body, this.range, {
      zoom: (_c, a, b) => this.zoom(a, b),
      pan: (_c, a, b) => this.zoom(a, b),
      reset: () => this.reset(),
      hover: (c, left, top) => {
        const ratio = devicePixelRatio || 1;
        const plane = c.plane();
        const row = left === null ? -1 : spec.pick(plane, plane.left + left * ratio, plane.top + top * ratio);
        c.ringAt(row);
        said.textContent = spec.words(row);
      },
      click: () => {},
    });
    this.charts.push(chart);
    body.addEventListener('keydown', (e) => this.key(e));
  }

  private key(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const [from, to] = this.range;
    const wide = to - from;
    const acts: Record<string, () => void> = {
      '+': () => this.zoom(from + wide / 4, to - wide / 4),
      '=': () => this.zoom(from + wide / 4, to - wide / 4),
      '-': () => this.zoom(from - wide / 2, to + wide / 2),
      ArrowLeft: () => this.zoom(from - wide / 5, to - wide / 5),
      ArrowRight: () => this.zoom(from + wide / 5, to + wide / 5),
      '0': () => this.reset(),
      Home: () => this.reset(),
    };
    const act = acts[e.key];
    if (!act) return;
    e.preventDefault();
    e.stopPropagation();
    act();
  }

  private reset(): void {
    for (const chart of this.charts) chart.releaseY();
    this.range = this.full;
    this.show();
  }

  private zoom(from: number, to: number): void {
    const [first, last] = this.full;
    const wide = Math.min(last - first, Math.max(SMALLEST, to - from));
    const start = Math.min(last - wide, Math.max(first, from));
    this.range = [start, start + wide];
    this.show();
  }

  private show(): void {
    for (const chart of this.charts) {
      chart.aim(...this.range);
      chart.show();
    }
  }
}

/** Responses and counters of both arms. */
function sideTable(look: Look): HTMLElement {
  const short = (name: string) => name.replace(/^(TcpExtTCP|TcpExt|Tcp)/, '');
  const names = look.sides[0].counters.map(([name]) => name);
  const head = ['arm', 'responses, as the client saw them', ...names.map(short)];
  const rows = look.sides.map((side) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, side.arm),
      h('td', { class: 'left' }, times(side.responses_us)),
      ...names.map((name) => h('td', {}, count(side.counters.find(([n]) => n === name)?.[1] ?? 0))),
    ),
  );
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'the connection in both arms' },
    h(
      'table',
      { class: 'sides' },
      h('thead', {}, h('tr', {}, ...head.map((n) => h('th', { scope: 'col' }, n)))),
      h('tbody', {}, ...rows),
    ),
  );
}

/** The first ones, and how many more. */
function times(us: number[]): string {
  if (us.length === 0) return 'none was finished';
  const first = us.slice(0, 8).map(shortTime).join(', ');
  return us.length > 8 ? `${first} and ${us.length - 8} more` : first;
}
