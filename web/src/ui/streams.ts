// The table of streams: sort by a column, filter by address or number, choose one.

import type { Classes } from '../data/budget';
import type { Capture, StreamLine } from '../data/model';
import { h } from '../dom';
import { bytes, count, micros, plural } from '../format';
import { budgetBar } from './budget';

const PAGE = 200;

interface ColumnOf {
  name: string;
  title: string;
  value: (s: StreamLine) => number | string;
  text: (s: StreamLine) => string;
  numeric: boolean;
}

const dash = (n: number): string => (n === 0 ? '·' : count(n));

const COLUMNS: ColumnOf[] = [
  {
    name: '#',
    title: "number, as Wireshark's tcp.stream",
    value: (s) => s.stream,
    text: (s) => String(s.stream),
    numeric: true,
  },
  {
    name: 'client → server',
    title: 'addresses and ports',
    value: (s) => s.client,
    text: () => '',
    numeric: false,
  },
  {
    name: 'pkts',
    title: 'packets, both directions',
    value: (s) => s.packets,
    text: (s) => count(s.packets),
    numeric: true,
  },
  {
    name: 'data',
    title: 'payload, both directions',
    value: (s) => s.bytes,
    text: (s) => bytes(s.bytes),
    numeric: true,
  },
  {
    name: 'time',
    title: 'first to last packet',
    value: (s) => s.duration_us,
    text: (s) => micros(s.duration_us),
    numeric: true,
  },
  {
    name: 'retr',
    title: 'retransmissions',
    value: (s) => s.retransmissions,
    text: (s) => dash(s.retransmissions),
    numeric: true,
  },
  {
    name: 'delayed',
    title: 'ACKs sent by the delayed-ACK timer',
    value: (s) => s.delayed_acks,
    text: (s) => dash(s.delayed_acks),
    numeric: true,
  },
];

export class StreamTable {
  readonly element = h('section', { class: 'streams', 'aria-label': 'Streams' });
  private readonly body = h('tbody', { role: 'rowgroup' });
  private readonly foot = h('p', { class: 'none' });
  private readonly heads: HTMLElement[] = [];
  private sort = 0;
  private down = false;
  private filter = '';
  private limit = PAGE;
  private chosen = -1;

  constructor(
    private readonly capture: Capture,
    private readonly charted: Set<number>,
    private readonly classes: Classes,
    private readonly choose: (stream: number) => void,
  ) {
    const search = h('input', {
      type: 'search',
      placeholder: 'filter: address, port, state, #number',
      'aria-label': 'filter streams',
    });
    search.addEventListener('input', () => {
      this.filter = search.value.trim().toLowerCase();
      this.limit = PAGE;
      this.render();
    });
    const row = h('tr', { role: 'row' });
    COLUMNS.forEach((column, i) => {
      const button = h(
        'button',
        { type: 'button', title: column.title, onclick: () => this.sortBy(i) },
        column.name,
      );
      const head = h(
        'th',
        { scope: 'col', role: 'columnheader', class: column.numeric ? 'num' : 'names' },
        button,
      );
      this.heads.push(head);
      row.append(head);
    });
    const total = capture.lines.length + capture.lines_left_out;
    this.element.append(
      h('h2', {}, 'Streams', h('span', { class: 'count' }, count(total)), search),
      // The rows are grids (two lines each), which takes the table's meaning away; roles give it back.
      h('table', { role: 'table' }, h('thead', { role: 'rowgroup' }, row), this.body),
      this.foot,
    );
    this.body.addEventListener('click', (e) => this.click(e));
    this.body.addEventListener('keydown', (e) => this.key(e));
    this.render();
  }

  select(stream: number): void {
    this.chosen = stream;
    for (const row of this.body.rows) {
      const on = Number(row.dataset.stream) === stream;
      row.toggleAttribute('aria-selected', on);
      row.tabIndex = on ? 0 : -1;
      if (on) row.scrollIntoView({ block: 'nearest' });
    }
    if (this.body.rows.length > 0 && !this.body.querySelector('[tabindex="0"]'))
      this.body.rows[0].tabIndex = 0;
  }

  /** Lists every stream, or as many as before. */
  print(whole: boolean): void {
    this.render(whole ? Number.POSITIVE_INFINITY : this.limit);
  }

  private sortBy(column: number): void {
    // Figures are looked at from the largest; names and numbers from the smallest.
    this.down = this.sort === column ? !this.down : COLUMNS[column].numeric && column > 0;
    this.sort = column;
    this.render();
  }

  private matches(s: StreamLine): boolean {
    if (!this.filter) return true;
    if (this.filter.startsWith('#')) return String(s.stream) === this.filter.slice(1);
    return `${s.client} ${s.server} ${s.state.replace('_', ' ')}`.toLowerCase().includes(this.filter);
  }

  private render(limit = this.limit): void {
    const { value } = COLUMNS[this.sort];
    const sign = this.down ? -1 : 1;
    const rows = this.capture.lines.filter((s) => this.matches(s));
    rows.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return (x < y ? -1 : x > y ? 1 : a.stream - b.stream) * sign;
    });
    this.heads.forEach((head, i) => {
      if (i === this.sort) head.setAttribute('aria-sort', this.down ? 'descending' : 'ascending');
      else head.removeAttribute('aria-sort');
    });
    this.element.style.setProperty('--rows', String(Math.min(rows.length, 100)));
    this.body.replaceChildren(...rows.slice(0, limit).map((s) => this.row(s)));
    this.select(this.chosen);
    this.renderFoot(rows.length, limit);
  }

  private renderFoot(found: number, limit: number): void {
    const { capture } = this;
    this.foot.replaceChildren();
    if (capture.lines.length === 0) {
      this.foot.append(this.whyNone());
    } else if (found === 0) {
      this.foot.append('No stream matches the filter.');
    } else if (found > limit) {
      const more = h('button', { class: 'show-more', type: 'button' }, `show more of ${count(found)}`);
      more.addEventListener('click', () => {
        this.limit += 5 * PAGE;
        this.render();
      });
      this.foot.append(more);
    }
    if (capture.lines_left_out > 0) {
      this.foot.append(
        ` ${count(capture.lines_left_out)} streams without trouble are left out here; --json has them all.`,
      );
    }
  }

  private whyNone(): string {
    const { packets, tcp_packets } = this.capture.totals;
    if (packets === 0) return 'The file holds no packets.';
    if (tcp_packets === 0) return `None of the ${count(packets)} packets is TCP over IPv4 or IPv6.`;
    if (this.capture.absent !== null) return 'No chosen stream is in this capture.';
    return 'No TCP connection could be read.';
  }

  private row(s: StreamLine): HTMLTableRowElement {
    const row = h('tr', { role: 'row', 'data-stream': s.stream, tabindex: -1 });
    if (!this.charted.has(s.stream)) row.classList.add('no-charts');
    COLUMNS.forEach((column, i) => {
      const cell = h('td', { role: 'cell', class: column.numeric ? 'num' : 'names' });
      if (i === 1) {
        cell.append(`${s.client} → ${s.server}`);
        if (s.findings > 0)
          cell.append(' ', h('span', { class: 'flag', title: 'findings' }, plural(s.findings, 'finding')));
        // The words are in the panel of the stream.
        if (s.budget.length > 0) cell.append(budgetBar(this.classes, s.budget));
      } else {
        cell.textContent = column.text(s);
      }
      row.append(cell);
    });
    return row;
  }

  private click(e: Event): void {
    const row = (e.target as Element).closest('tr');
    if (row?.dataset.stream) this.choose(Number(row.dataset.stream));
  }

  private key(e: KeyboardEvent): void {
    const row = (e.target as Element).closest('tr');
    if (!row) return;
    if (e.key === 'Enter' || e.key === ' ') {
      this.choose(Number(row.dataset.stream));
    } else if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      const next = e.key === 'ArrowDown' ? row.nextElementSibling : row.previousElementSibling;
      if (next instanceof HTMLTableRowElement) {
        row.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
      }
    } else {
      return;
    }
    e.preventDefault();
    e.stopPropagation();
  }
}
