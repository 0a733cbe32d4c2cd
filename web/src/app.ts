// The page: header, findings and streams on the left, the chosen stream on the right, keys.

import { Classes } from './data/budget';
import type { Capture, PageDocument } from './data/model';
import { h } from './dom';
import { count, date, plural, seconds } from './format';
import { FindingsList } from './ui/findings';
import { helpDialog } from './ui/help';
import { aboutCapture, notChecked, notExplained, twoEnds } from './ui/not_checked';
import { onPrint } from './ui/print';
import { StreamPanel } from './ui/stream_panel';
import { StreamTable } from './ui/streams';
import { themeButton } from './ui/theme';
import { captureTime } from './ui/time';

export class App {
  private readonly panel: StreamPanel;
  private readonly side = h('aside', { class: 'side' });
  private readonly help = helpDialog();
  private readonly theme: HTMLButtonElement;
  private findings: FindingsList | null = null;
  private streams: StreamTable | null = null;
  private readonly classes: Classes;
  private capture = 0;
  private finding = -1;

  constructor(
    private readonly page: PageDocument,
    root: Document,
  ) {
    this.classes = new Classes(page.classes);
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
    onPrint((whole) => {
      this.findings?.print(whole);
      this.streams?.print(whole);
      this.panel.print(whole);
    });
    this.open(0);
  }

  private header(): HTMLElement {
    const { captures } = this.page;
    const header = h('header', { class: 'top' }, h('h1', {}, 'tcplab'));
    if (captures.length > 1) {
      const chooser = h('select', { 'aria-label': 'capture' });
      captures.forEach((c, i) => {
        const found = c.checked === 0 && c.absent ? 'not checked' : plural(c.findings.length, 'finding');
        chooser.append(h('option', { value: i }, `${c.file} (${found})`));
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
    this.capture = index;
    this.finding = -1;
    document.title = `${capture.file} · tcplab`;
    this.totals.textContent = totalsText(capture);
    this.findings = new FindingsList(capture, charted, {
      choose: (i) => this.choose(i),
      packet: (number) => this.panel.focus([number]),
    });
    this.streams = new StreamTable(capture, charted, this.classes, (stream) => this.stream(stream));
    const told = h(
      'div',
      { class: 'told' },
      damage(capture),
      captureTime(this.classes, capture),
      this.findings.element,
      notExplained(capture),
      twoEnds(capture),
      notChecked(capture, capture.findings.length === 0),
      aboutCapture(capture),
    );
    this.side.replaceChildren(told, this.streams.element);
    const first = this.findings.groups[0]?.[0];
    if (first !== undefined) this.choose(first);
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

  /** To the next or previous group of findings. */
  private stepFinding(by: number): void {
    const groups = this.findings?.groups ?? [];
    const n = groups.length;
    if (n === 0) return;
    const at = this.findings?.groupOf(this.finding) ?? -1;
    const next = at < 0 ? (by > 0 ? 0 : n - 1) : (at + by + n) % n;
    if (next !== at) this.choose(groups[next][0]);
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
  parts.push(capture.extent);
  if (t.time_ns) {
    parts.push(seconds((t.time_ns[1] - t.time_ns[0]) / 1e9));
    parts.push(`from ${date(t.time_ns[0], false)}`);
  }
  return parts.join(' · ');
}

/** The damage that ended the file: what follows is about the part before it. */
function damage(capture: Capture): HTMLElement | null {
  const { error } = capture.totals;
  if (!error) return null;
  const text = `The file could not be read beyond byte ${count(error.offset)}: ${error.message}.`;
  return h('section', { class: 'warnings' }, h('p', { class: 'warn' }, text));
}
