// The page: header, findings and streams on the left, the chosen stream on the right, keys.

import type { Capture, Finding, PageDocument } from './data/model';
import { h } from './dom';
import { count, date, plural, seconds } from './format';
import { FindingsList } from './ui/findings';
import { helpDialog } from './ui/help';
import { StreamPanel } from './ui/stream_panel';
import { StreamTable } from './ui/streams';
import { themeButton } from './ui/theme';

export class App {
  private readonly panel: StreamPanel;
  private readonly side = h('aside', { class: 'side' });
  private readonly help = helpDialog();
  private readonly theme: HTMLButtonElement;
  private findings: FindingsList | null = null;
  private streams: StreamTable | null = null;
  private capture = 0;
  private finding = -1;

  constructor(
    private readonly page: PageDocument,
    root: Document,
  ) {
    this.panel = new StreamPanel(page, root);
    this.theme = themeButton(() => this.panel?.repaint());
  }

  mount(place: HTMLElement): void {
    place.replaceChildren(
      this.header(),
      h('div', { class: 'columns' }, this.side, this.panel.element),
      this.panel.tooltip.element,
      this.help,
    );
    addEventListener('keydown', (e) => this.key(e));
    this.open(0);
  }

  private header(): HTMLElement {
    const { captures } = this.page;
    const header = h('header', { class: 'top' }, h('h1', {}, 'tcplab'));
    if (captures.length > 1) {
      const chooser = h('select', { 'aria-label': 'capture' });
      captures.forEach((c, i) => {
        chooser.append(h('option', { value: i }, `${c.file} (${plural(c.findings.length, 'finding')})`));
      });
      chooser.addEventListener('change', () => this.open(Number(chooser.value)));
      header.append(chooser, this.totals);
    } else {
      header.append(h('span', { class: 'file' }, captures[0]?.file ?? ''), this.totals);
    }
    header.append(
      h('span', { class: 'spring' }),
      this.theme,
      h(
        'button',
        { type: 'button', title: 'keys and gestures (?)', onclick: () => this.help.showModal() },
        'keys',
      ),
      h('span', { class: 'version' }, `tcplab ${this.page.version}`),
    );
    return header;
  }

  private readonly totals = h('span', { class: 'totals' });

  private open(index: number): void {
    const capture = this.page.captures[index];
    if (!capture) {
      this.side.replaceChildren(h('p', { class: 'none' }, 'The report holds no capture.'));
      return;
    }
    const charted = new Set(this.page.charts.filter((c) => c.capture === index).map((c) => c.stream));
    sortFindings(capture.findings, charted);
    this.capture = index;
    this.finding = -1;
    document.title = `${capture.file} · tcplab`;
    this.totals.textContent = totalsText(capture);
    this.findings = new FindingsList(capture.findings, capture.totals.findings_not_listed ?? 0, {
      choose: (i) => this.choose(i),
      packet: (_i, number) => this.panel.focus([number]),
    });
    this.streams = new StreamTable(capture, charted, (stream) => this.stream(stream));
    this.side.replaceChildren(...warnings(capture), this.findings.element, this.streams.element);
    if (capture.findings.length > 0) this.choose(0);
    else this.stream(firstStream(capture, charted));
  }

  private choose(index: number): void {
    const finding = this.page.captures[this.capture].findings[index];
    if (!finding) return;
    if (index === this.finding) {
      // A second click closes it and leaves the charts as they are.
      this.finding = -1;
      this.findings?.select(-1);
      return;
    }
    this.finding = index;
    this.findings?.select(index);
    this.streams?.select(finding.stream);
    this.panel.show({
      capture: this.capture,
      stream: finding.stream,
      fromClient: null,
      packets: finding.packets,
    });
  }

  private stream(stream: number): void {
    this.finding = -1;
    this.findings?.select(-1);
    this.streams?.select(stream);
    this.panel.show({ capture: this.capture, stream, fromClient: null, packets: [] });
  }

  private stepFinding(by: number): void {
    const n = this.page.captures[this.capture]?.findings.length ?? 0;
    if (n === 0) return;
    const next = this.finding < 0 ? (by > 0 ? 0 : n - 1) : (this.finding + by + n) % n;
    if (next !== this.finding) this.choose(next);
  }

  private key(e: KeyboardEvent): void {
    const target = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || this.help.open) return;
    if (target.matches('input, select, textarea')) return;
    const { board } = this.panel;
    const acts: Record<string, () => void> = {
      '?': () => this.help.showModal(),
      t: () => this.theme.click(),
      d: () => this.panel.turn(),
      n: () => this.stepFinding(1),
      p: () => this.stepFinding(-1),
      '0': () => board?.reset(),
      Home: () => board?.reset(),
      '+': () => board?.zoomBy(0.5),
      '=': () => board?.zoomBy(0.5),
      '-': () => board?.zoomBy(2),
      ArrowLeft: () => board?.panBy(-0.2),
      ArrowRight: () => board?.panBy(0.2),
      '.': () => board?.step(1),
      ',': () => board?.step(-1),
      Backspace: () => board?.back(),
      Escape: () => board?.unpoint(),
    };
    const act = acts[e.key];
    if (!act) return;
    e.preventDefault();
    act();
  }
}

const SEVERITIES = ['high', 'medium', 'info'];

/** Most severe first; of these, first those whose packets can be looked at. */
function sortFindings(findings: Finding[], charted: Set<number>): void {
  const rank = (f: Finding) => SEVERITIES.indexOf(f.severity) * 2 + (charted.has(f.stream) ? 0 : 1);
  findings.sort((a, b) => rank(a) - rank(b));
}

function firstStream(capture: Capture, charted: Set<number>): number {
  const lines = capture.lines.filter((l) => charted.has(l.stream));
  const pool = lines.length > 0 ? lines : capture.lines;
  return pool.reduce(
    (best, l) => (l.packets > best.packets ? l : best),
    pool[0] ?? { stream: -1, packets: 0 },
  ).stream;
}

function totalsText(capture: Capture): string {
  const t = capture.totals;
  const parts = [plural(t.packets, 'packet')];
  if (t.tcp_packets !== t.packets) parts.push(`${count(t.tcp_packets)} TCP`);
  parts.push(plural(t.tcp_streams, 'stream'));
  if (t.time_ns) {
    parts.push(seconds((t.time_ns[1] - t.time_ns[0]) / 1e9));
    parts.push(`from ${date(t.time_ns[0]).slice(0, 19)} UTC`);
  }
  return parts.join(' · ');
}

/** What the reader of the file had to leave out; each is a reason to doubt what follows. */
function warnings(capture: Capture): HTMLElement[] {
  const t = capture.totals;
  const texts: string[] = [];
  if (t.error)
    texts.push(`The file could not be read beyond byte ${count(t.error.offset)}: ${t.error.message}.`);
  if (t.evicted_streams)
    texts.push(
      `${plural(t.evicted_streams, 'stream')} written out before their end, to bound memory; --max-streams lifts it.`,
    );
  if (t.late_packets)
    texts.push(
      `${plural(t.late_packets, 'packet')} of streams that had been written out: no figure counts them.`,
    );
  if (t.forgotten_streams)
    texts.push(
      `${plural(t.forgotten_streams, 'ended stream')} forgotten, to bound memory: a late packet of one counts as a new stream; --max-streams lifts it.`,
    );
  if (t.truncated) texts.push(`${plural(t.truncated, 'frame')} cut before the TCP header.`);
  if (t.malformed) texts.push(`${plural(t.malformed, 'frame')} with headers that contradict themselves.`);
  if (t.unknown_link) texts.push(`${plural(t.unknown_link, 'frame')} of an unknown link type.`);
  if (t.fragments) texts.push(`${plural(t.fragments, 'IP fragment')} not put together.`);
  if (t.time_out_of_order)
    texts.push(`${plural(t.time_out_of_order, 'time stamp')} missing or going backwards.`);
  return texts.length === 0
    ? []
    : [h('section', { class: 'warnings' }, ...texts.map((x) => h('p', { class: 'warn' }, x)))];
}
