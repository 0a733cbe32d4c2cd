// The list of findings: title first; the chosen one opens to cause, remedies and packets.

import type { Finding } from '../data/model';
import { h } from '../dom';
import { count, plural } from '../format';

const AT_FIRST = 40;

/** Text with `code` in backticks. */
function withCode(text: string): Node[] {
  return text
    .split('`')
    .map((part, i) => (i % 2 === 1 ? h('code', {}, part) : document.createTextNode(part)))
    .filter((node) => node.textContent !== '');
}

function copyButton(text: string): HTMLElement {
  const button = h('button', { class: 'copy', type: 'button', title: 'copy this remedy' }, 'copy');
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
    h('li', {}, h('span', { class: 'text' }, ...withCode(text)), copyButton(text.replaceAll('`', ''))),
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

  constructor(
    private readonly findings: Finding[],
    private readonly notListed: number,
    private readonly handlers: FindingsHandlers,
  ) {
    this.render();
  }

  select(index: number): void {
    this.chosen = index;
    if (index >= this.shown) this.shown = index + 1;
    this.render();
    const item = this.element.querySelector<HTMLElement>('.finding[aria-current]');
    const head = this.element.querySelector('h2');
    if (!item || !head) return;
    // The title must be seen; what hangs out below can be scrolled to.
    const top = item.offsetTop - head.offsetHeight;
    const seen =
      this.element.scrollTop <= top &&
      top + item.offsetHeight <= this.element.scrollTop + this.element.clientHeight;
    if (!seen) this.element.scrollTop = top;
  }

  private render(): void {
    this.element.replaceChildren(
      h('h2', {}, 'Findings', h('span', { class: 'count' }, count(this.findings.length + this.notListed))),
    );
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
    this.findings.slice(0, this.shown).forEach((f, i) => {
      this.element.append(this.item(f, i));
    });
    const rest = this.findings.length - this.shown;
    if (rest > 0) {
      const more = h(
        'button',
        { class: 'show-more', type: 'button' },
        `show ${count(Math.min(rest, 100))} more of ${count(rest)}`,
      );
      more.addEventListener('click', () => {
        this.shown += 100;
        this.render();
      });
      this.element.append(more);
    }
    if (this.notListed > 0 && rest <= 0) {
      this.element.append(
        h(
          'p',
          { class: 'none' },
          `${plural(this.notListed, 'more finding was', 'more findings were')} counted but not listed.`,
        ),
      );
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
      h(
        'span',
        { class: 'meta' },
        `stream ${finding.stream} · ${finding.id} · ${Math.round(finding.confidence * 100)} % sure`,
      ),
    );
    return h(
      'article',
      { class: `finding ${finding.severity}`, 'aria-current': open ? 'true' : undefined },
      head,
      open && details(finding, (n) => this.handlers.packet(index, n)),
    );
  }
}
