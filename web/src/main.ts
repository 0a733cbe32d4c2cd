// Entry: reads the report out of the page and shows it.

import 'uplot/dist/uPlot.min.css';
import './style/colours.css';
import './style/base.css';
import './style/frame.css';
import './style/side.css';
import './style/stream.css';
import './style/budget.css';
import './style/boxes.css';
import './style/narrow.css';
import './style/population.css';
import './style/matrix.css';
import './style/over_time.css';
import './style/compare.css';
import './style/print.css';
import { App } from './app';
import { showComparison } from './compare/app';
import { readDocument } from './data/model';
import { h } from './dom';
import { showMatrix } from './matrix/app';
import { showPopulation } from './population/app';
import { showDistributions } from './population/distributions';
import { showVariants } from './population/variants';

const place = document.getElementById('app');
if (!place) throw new Error('the page has no #app');
try {
  const page = readDocument(document);
  if (page?.schema === 'tcplab.page/1') new App(page, document).mount(place);
  else if (page?.schema === 'tcplab.page-population/1') showPopulation(page, place);
  else if (page?.schema === 'tcplab.page-variants/1') showVariants(page, place);
  else if (page?.schema === 'tcplab.page-distributions/1') showDistributions(page, place);
  else if (page?.schema === 'tcplab.page-matrix/1') showMatrix(page, place);
  else if (page?.schema === 'tcplab.page-compare/1') showComparison(page, place);
  else
    place.append(
      h(
        'p',
        { class: 'nothing' },
        'This page holds no report. Write one with: tcplab analyze --html FILE CAPTURE, or tcplab report FOLDER',
      ),
    );
} catch (error) {
  place.replaceChildren(
    h('p', { class: 'nothing' }, `The report in this page cannot be shown: ${String(error)}`),
  );
  throw error;
}
