// The list of findings: title first; the chosen one opens to cause, remedies and packets.

import type { Finding } from '../data/model';
import { h } from '../dom';
import { count, plural } from '../format';

const AT_FIRST = 40;
/** From so many findings on the list can be cut down to one kind. */
const MANY = 8;

/** Text with `code` in backticks. */
function withCode(text: string): Node[] {
  return text
    .split('`')
    .map((part, i) => (i % 2 === 1 ? h('code', {}, part) : document.createTextNode(part)))
    .filter((node) => node.textContent !== '');
}

/** The commands of a remedy, one a line; all of it where it holds none. */
export function toPaste(remedy: string): string {
  const commands = remedy.split('`').filter((_, i) => i % 2 === 1);
  return commands.length > 0 ? commands.join('\n') : remedy;
}

function copyButton(remedy: string): HTMLElement {
  const text = toPaste(remedy);
  const button = h('button', { class: 'copy', type: 'button', title: `copy: ${text}` }, 'copy');
  button.addEventListener('click', async (event) => {
    event.stopPropagation();
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'copied';
    } catch {
      button.textContent = 'select the text to copy it';
    }
  });
  return button;
}

function details(finding: Finding, packet: (n: number) => void): HTMLElement {
  const remedies = finding.remedy.map((text) =>
    h('li', {}, h('span', { class: 'text' }, ...withCode(text)), copyButton(text)),
  );
  const packets = finding.packets.map((n) =>
    h('button', { class: 'packet', type: 'button', onclick: () => packet(n) }, `#${count(n)}`),
  );
  return h(
    'div',
    { class: 'more' },
    h('h4', {}, 'Why'),
    h('p', {}, ...withCode(finding.cause)),
    remedies.length > 0 && h('h4', {}, 'What to do'),
    remedies.length > 0 && h('ul', { class: 'remedies' }, ...remedies),
    packets.length > 0 && h('h4', {}, 'Packets'),
    packets.length > 0 && h('p', { class: 'packets' }, ...packets),
  );
}

export interface FindingsHandlers {
  choose(index: number): void;
  packet(index: number, number: number): void;
}

/** The list; `chosen` is an index into `findings` or -1. */
export class FindingsList {
  readonly element = h('section', { class: 'findings', 'aria-label': 'Findings' });
  private shown = AT_FIRST;
  private chosen = -1;
  /** Only findings of this id; empty for all. */
  private kind = '';

  constructor(
    private readonly findings: Finding[],
    private readonly notListed: number,
    private readonly handlers: FindingsHandlers,
  ) {
    this.render();
  }

  select(index: number): void {
    this.chosen = index;
    const finding = this.findings[index];
    if (finding && this.kind && finding.id !== this.kind) this.kind = '';
    const place = this.list().indexOf(index);
    if (place >= this.shown) this.shown = place + 1;
    const focused = this.element.contains(document.activeElement);
    this.render();
    const item = this.element.querySelector<HTMLElement>('.finding[aria-current]');
    if (!item) return;
    // Drawing the list anew took the focus away.
    if (focused) item.querySelector<HTMLElement>('.head')?.focus({ preventScroll: true });
    this.reveal(item);
  }

  /** Indexes of the findings of the chosen kind. */
  private list(): number[] {
    return [...this.findings.keys()].filter((i) => !this.kind || this.findings[i].id === this.kind);
  }

  /** The title must be seen; what hangs out below can be scrolled to. */
  private reveal(item: HTMLElement): void {
    const { element } = this;
    const top = item.offsetTop - (element.querySelector<HTMLElement>('h2')?.offsetHeight ?? 0);
    const seen =
      element.scrollTop <= top && top + item.offsetHeight <= element.scrollTop + element.clientHeight;
    if (!seen) element.scrollTop = top;
  }

  private head(): HTMLElement {
    const total = this.findings.length + this.notListed;
    const head = h('h2', {}, 'Findings', h('span', { class: 'count' }, count(total)));
    const kinds = new Map<string, number>();
    for (const { id } of this.findings) kinds.set(id, (kinds.get(id) ?? 0) + 1);
    if (this.findings.length < MANY || kinds.size < 2) return head;
    const chooser = h('select', { 'aria-label': 'kind of finding' }, h('option', { value: '' }, 'all kinds'));
    for (const [id, n] of kinds) {
      chooser.append(h('option', { value: id, selected: id === this.kind }, `${id} (${count(n)})`));
    }
    chooser.addEventListener('change', () => {
      this.kind = chooser.value;
      this.shown = AT_FIRST;
      this.render();
      this.element.querySelector('select')?.focus();
    });
    head.append(chooser);
    return head;
  }

  private render(): void {
    this.element.replaceChildren(this.head());
    if (this.findings.length === 0) {
      this.element.append(
        h(
          'p',
          { class: 'none' },
          'No findings: these packets show none of the causes of delay and loss that tcplab knows. The figures of each stream are below.',
        ),
      );
      return;
    }
    const list = this.list();
    for (const i of list.slice(0, this.shown)) this.element.append(this.item(this.findings[i], i));
    this.rest(list.length - this.shown);
  }

  /** What stands below the list: more of it, or why it ends. */
  private rest(rest: number): void {
    if (rest > 0) {
      const text = `show ${count(Math.min(rest, 100))} more of ${count(rest)}`;
      const more = h('button', { class: 'show-more', type: 'button' }, text);
      more.addEventListener('click', () => {
        this.shown += 100;
        this.render();
      });
      this.element.append(more);
    } else if (this.notListed > 0) {
      const more = plural(this.notListed, 'more finding was', 'more findings were');
      this.element.append(h('p', { class: 'none' }, `${more} counted but not listed.`));
    }
  }

  private item(finding: Finding, index: number): HTMLElement {
    const open = index === this.chosen;
    const head = h(
      'button',
      {
        class: 'head',
        type: 'button',
        'aria-expanded': String(open),
        onclick: () => this.handlers.choose(index),
      },
      h('span', { class: `severity ${finding.severity}` }, finding.severity),
      h('span', { class: 'title' }, finding.title),
      h('span', { class: 'meta' }, origin(finding)),
    );
    return h(
      'article',
      { class: `finding ${finding.severity}`, 'aria-current': open ? 'true' : undefined },
      head,
      open && details(finding, (n) => this.handlers.packet(index, n)),
    );
  }
}

/** Stream, name, and how often findings of this name were right, where that was measured. */
function origin(finding: Finding): string {
  const parts = [`stream ${finding.stream}`, finding.id];
  if (finding.confidence !== undefined) {
    parts.push(`${Math.round(finding.confidence * 100)} % sure`);
  }
  return parts.join(' · ');
}
