// The right side of the page: one stream, one direction, its figures and charts.

import { Board } from '../charts/board';
import { Classes, total } from '../data/budget';
import { bytesOf as decodeBase64, decodeColumns, type Trace } from '../data/columns';
import type { Capture, ChartInfo, PageDocument, Stream, StreamLine } from '../data/model';
import { decodeSpans, type Spans } from '../data/spans';
import { bytesOf, directionOf, makeView, rowsOf } from '../data/view';
import { h } from '../dom';
import { count, date, micros, plural } from '../format';
import { budgetFigure, meanings } from './budget';
import { directionFacts, streamNotes } from './facts';
import { notCheckedIn } from './not_checked';
import { RequestList } from './requests';
import { Tooltip } from './tooltip';

/** What is shown. */
export interface Choice {
  capture: number;
  stream: number;
  /** `null`: the direction with more data. */
  fromClient: boolean | null;
  /** Frame numbers to mark and zoom to. */
  packets: number[];
}

export class StreamPanel {
  readonly element = h('main', { class: 'stream', tabindex: -1 });
  readonly tooltip: Tooltip;
  board: Board | null = null;
  private choice: Choice | null = null;
  private fromClient = true;
  private requests: RequestList | null = null;
  private traces = new Map<number, Trace>();
  private readonly classes: Classes;

  constructor(
    private readonly page: PageDocument,
    private readonly root: Document,
  ) {
    this.tooltip = new Tooltip(page.wireshark);
    this.classes = new Classes(page.classes);
  }

  show(choice: Choice): void {
    const same = this.choice?.capture === choice.capture && this.choice.stream === choice.stream;
    if (!same) this.element.scrollTop = 0;
    this.choice = choice;
    this.board?.destroy();
    this.board = null;
    this.requests = null;
    const capture = this.page.captures[choice.capture];
    const line = capture?.lines.find((l) => l.stream === choice.stream);
    if (!capture || !line) {
      this.element.replaceChildren(h('p', { class: 'nothing' }, 'Choose a stream.'));
      return;
    }
    const details = capture.details.find((s) => s.stream === choice.stream);
    const index = this.page.charts.findIndex(
      (c) => c.capture === choice.capture && c.stream === choice.stream,
    );
    if (index < 0) {
      this.element.replaceChildren(this.title(line, null), this.without(line, details, capture));
      return;
    }
    try {
      this.charts(choice, capture, line, details, index);
    } catch (error) {
      this.element.replaceChildren(
        this.title(line, null),
        h('p', { class: 'nothing' }, `The packets of this stream cannot be shown: ${String(error)}`),
      );
    }
  }

  /** Marks packets of the stream that is shown, turning to the direction they speak of. */
  focus(packets: number[]): void {
    if (this.choice) this.show({ ...this.choice, fromClient: null, packets });
  }

  turn(): void {
    if (this.choice && this.board) {
      const focused = document.activeElement?.closest('.switch');
      this.show({ ...this.choice, fromClient: !this.fromClient });
      if (focused) this.element.querySelector<HTMLElement>('.switch [aria-checked="true"]')?.focus();
    }
  }

  /** Draws the charts again, for new colours. */
  repaint(): void {
    if (this.board && this.choice) this.board.repaint();
  }

  private trace(index: number): Trace {
    let trace = this.traces.get(index);
    if (!trace) {
      const element = this.root.getElementById(`tcplab-chart-${index}`);
      if (!element?.textContent) throw new Error('they are not in the page');
      trace = decodeColumns(decodeBase64(element.textContent), this.page.charts[index].rows);
      // The last few only: a stream of 500,000 packets takes 60 MB when unpacked.
      if (this.traces.size >= 4) this.traces.delete(this.traces.keys().next().value as number);
      this.traces.set(index, trace);
    }
    return trace;
  }

  /** Lists everything and takes the sizes of paper, or goes back. */
  print(whole: boolean): void {
    this.requests?.print(whole);
    this.board?.resize();
    this.repaint();
  }

  private spans(index: number): Spans {
    return decodeSpans(decodeBase64(this.root.getElementById(`tcplab-spans-${index}`)?.textContent ?? ''));
  }

  private charts(
    choice: Choice,
    capture: Capture,
    line: StreamLine,
    details: Stream | undefined,
    index: number,
  ): void {
    const trace = this.trace(index);
    if (details) {
      trace.unscaled = [
        details.server_to_client.window_unscaled === true,
        details.client_to_server.window_unscaled === true,
      ];
    }
    const rows = rowsOf(trace, choice.packets);
    if (choice.fromClient !== null) this.fromClient = choice.fromClient;
    else if (rows.length > 0) this.fromClient = directionOf(trace, rows);
    else this.fromClient = bytesOf(trace, 1) >= bytesOf(trace, 0);
    const [data, peer] = this.sides(details);
    const time = { spans: this.spans(index), classes: this.classes };
    const board = new Board(makeView(trace, this.fromClient), peer?.acks_sent ?? null, this.tooltip, time);
    const info = this.page.charts[index];
    this.requests = this.requestsOf(details, board);
    this.element.replaceChildren(
      this.title(line, info),
      details ? streamNotes(details, capture.totals) : '',
      this.cut(info),
      ...(details ? notCheckedIn(details, capture.missing) : []),
      this.time(line),
      data && peer ? directionFacts(data, peer) : '',
      this.tools(board, trace),
      board.element,
      this.requests?.element ?? '',
    );
    this.board = board;
    board.mount();
    if (choice.packets.length > 0) board.focus(rows);
  }

  /** Figures of the direction that carries the data, and of its peer. */
  private sides(details: Stream | undefined) {
    if (!details) return [null, null];
    const { client_to_server: a, server_to_client: b } = details;
    return this.fromClient ? [a, b] : [b, a];
  }

  private title(line: StreamLine, info: ChartInfo | null): HTMLElement {
    const charts = this.page.charts.filter((c) => c.capture === this.choice?.capture).length;
    return h(
      'h2',
      {},
      charts > 1 &&
        h(
          'small',
          { class: 'paper-only' },
          `Paper has the charts of the chosen stream only; the page has those of ${plural(charts, 'stream')}.`,
        ),
      h('span', { class: 'number' }, `Stream ${line.stream}`),
      h('span', { class: 'ends' }, `${line.client} → ${line.server}`),
      h('span', { class: 'began' }, date(info?.origin_ns ?? line.start_ns)),
    );
  }

  /** Where the time of the stream went. */
  private time(line: StreamLine): HTMLElement | string {
    const whole = total(line.budget);
    if (whole === 0) return '';
    const title = h('h3', {}, `Where ${micros(whole)} went`);
    return h(
      'section',
      { class: 'stream-time' },
      title,
      budgetFigure(this.classes, line.budget),
      meanings(this.classes, line.budget),
    );
  }

  private requestsOf(details: Stream | undefined, board: Board | null): RequestList | null {
    if (!details?.requests?.length) return null;
    const show = (from: number, to: number) => {
      const pad = Math.max(1e-5, (to - from) * 0.1);
      board?.zoom(from - pad, to + pad);
      board?.element.scrollIntoView({ block: 'nearest' });
    };
    return new RequestList(this.classes, details, board && show);
  }

  private cut(info: ChartInfo): HTMLElement | string {
    if (info.rows >= info.packets) return '';
    return h(
      'p',
      { class: 'warn' },
      `The charts hold the first ${count(info.rows)} of ${plural(info.packets, 'packet')}; the figures are of all.`,
    );
  }

  private tools(board: Board, trace: Trace): HTMLElement {
    const side = (client: boolean) => {
      const bytes = bytesOf(trace, client ? 1 : 0);
      const on = client === this.fromClient;
      const button = h(
        'button',
        {
          type: 'button',
          role: 'radio',
          'aria-checked': String(on),
          'data-direction': client ? 'client' : 'server',
        },
        client ? 'client → server' : 'server → client',
        bytes === 0 && h('small', {}, 'no data'),
      );
      button.addEventListener('click', () => {
        if (client !== this.fromClient) this.turn();
      });
      return button;
    };
    const tool = (text: string, title: string, act: () => void) =>
      h('button', { type: 'button', title, onclick: act }, text);
    return h(
      'div',
      { class: 'tools' },
      h('span', { class: 'label' }, 'data'),
      h(
        'div',
        { class: 'switch', role: 'radiogroup', 'aria-label': 'direction of the data' },
        side(true),
        side(false),
      ),
      h('span', { class: 'spring' }),
      board.cursor,
      board.readout,
      tool('−', 'zoom out (−)', () => board.zoomBy(2)),
      tool('+', 'zoom in (+)', () => board.zoomBy(0.5)),
      tool('back', 'the range before (Backspace)', () => board.back()),
      tool('all', 'show all (0, double click)', () => board.reset()),
    );
  }

  private without(line: StreamLine, details: Stream | undefined, capture: Capture): HTMLElement {
    const kept = this.page.charts.length;
    const why = h(
      'p',
      { class: 'nothing' },
      `No charts for this stream: the page holds those of ${plural(kept, 'stream')}, the ones with the most severe findings and the largest. `,
      'To see it, cut it out and look at it alone: ',
      h('code', {}, `tshark -r ${capture.file} -Y tcp.stream==${line.stream} -w one.pcapng`),
    );
    const time = this.time(line);
    if (!details) return h('div', {}, time || null, why);
    const pair = h('div', { class: 'pair' });
    for (const [name, d, peer] of [
      ['client → server', details.client_to_server, details.server_to_client],
      ['server → client', details.server_to_client, details.client_to_server],
    ] as const) {
      pair.append(h('h3', {}, name), directionFacts(d, peer));
    }
    this.requests = this.requestsOf(details, null);
    return h(
      'div',
      {},
      streamNotes(details, capture.totals),
      ...notCheckedIn(details, capture.missing),
      time || null,
      why,
      pair,
      this.requests?.element,
    );
  }
}
