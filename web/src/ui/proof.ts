// What an experiment said about a finding (`--prove`): the figure in the capture, without a cure, and with each.

import type { Cure, Proof } from '../data/model';
import { h } from '../dom';
import { micros } from '../format';
import { withCode } from './words';

/** The heading: what came out. */
const OUTCOMES: Record<Proof['outcome'], string> = {
  proved: 'Proved by an experiment',
  reduced: 'Reduced by an experiment, not removed',
  not_reproduced: 'Not reproduced by an experiment',
  not_proved: 'Not proved',
};

/** Heading, reason, figures and the experiment itself; nothing where nobody asked for a proof. */
export function proofOf(proof: Proof | undefined, whole: boolean): HTMLElement | undefined {
  if (!proof) return undefined;
  const rows = [
    row('in the capture', '', proof.captured_us, ''),
    row('without a cure', proof.stack ?? '', proof.before_us, ''),
    ...(proof.cures ?? []).map((cure) => row(`with ${cure.change}`, cure.stack, cure.after_us, effect(cure))),
  ].filter((r) => r !== undefined);
  // The figure of the capture alone compares nothing.
  const compares = proof.before_us !== undefined;
  return h(
    'div',
    { class: 'proof', 'data-outcome': proof.outcome },
    h('h4', {}, OUTCOMES[proof.outcome]),
    proof.reason !== undefined && h('p', {}, ...withCode(sentence(proof.reason))),
    compares && h('table', {}, h('caption', {}, sentence(proof.figure ?? '')), h('tbody', {}, ...rows)),
    proof.assumes !== undefined && h('p', {}, ...withCode(proof.assumes)),
    proof.experiment !== undefined && experiment(proof.experiment, proof.file, whole),
  );
}

function row(change: string, stack: string, us: number | undefined, said: string): HTMLElement | undefined {
  if (us === undefined && said === '') return undefined;
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, ...withCode(change), stack !== '' && h('small', {}, stack)),
    h('td', {}, us === undefined ? 'no figure' : micros(us), said !== '' && h('small', {}, said)),
  );
}

const effect = (cure: Cure): string => (cure.gone ? 'finding gone' : 'finding stays');

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** The file for `tcplab run`, closed at first. */
function experiment(text: string, file: string | undefined, whole: boolean): HTMLElement {
  const run =
    file === undefined
      ? 'Save it as a file and run it: `tcplab run FILE`.'
      : `Run it again: \`tcplab run ${file}\`.`;
  return h(
    'details',
    { open: whole },
    h('summary', {}, 'The experiment'),
    h('p', {}, ...withCode(run)),
    h('pre', { tabindex: '0' }, text),
  );
}
