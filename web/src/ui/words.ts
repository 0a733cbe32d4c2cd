// Text with commands in it.

import { h } from '../dom';

/** Text with `code` in backticks. */
export function withCode(text: string): Node[] {
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
