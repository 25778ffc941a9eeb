// Columns of decisions a day with the errors among them, and the line of the share denied, as SVG, with the numbers as a table.
import { html } from '../html.js';
import { number, percent } from '../text.js';
import { day } from '../time.js';

const WIDTH = 640, LEFT = 44, TOP = 8, HIGH = 96, GAP = 26, LOW = 60;

// Return a round number of at least the value.
function ceiling(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 4, 5, 7.5, 10].map(step => step * power).find(step => step >= value);
}

// "1.5k", "2M": short enough for the axis.
const brief = value => (value >= 1e6 ? `${number(value / 1e6)}M` : value >= 1e3 ? `${number(value / 1e3)}k` : number(value));

// "26 Oct" of a day.
const onAxis = label => (/^\d{4}-\d\d-\d\d$/.test(label ?? '') ? day(label).split(' ').slice(1, 3).join(' ') : label);

// unit: what a point is, day or hour.
export function Chart({ labels, allowed, denied, errors, marks = {}, unit = 'day' }) {
  const sums = labels.map((_, at) => (allowed[at] ?? 0) + (denied[at] ?? 0) + (errors[at] ?? 0));
  const shares = sums.map((sum, at) => (sum ? (denied[at] ?? 0) / sum : 0));
  const most = ceiling(Math.max(...sums)), share = ceiling(Math.max(...shares) * 100) / 100;
  const step = (WIDTH - LEFT) / Math.max(1, labels.length);
  const below = TOP + HIGH + GAP, bottom = below + LOW;
  const x = at => LEFT + at * step;
  const line = shares.map((one, at) => `${x(at) + step / 2},${bottom - (one / share) * LOW}`).join(' ');
  const total = sums.reduce((a, b) => a + b, 0);
  return html`<div class="chart-box" tabindex="0" role="group" aria-label="Chart, which may scroll sideways"><svg class="chart" viewBox=${`0 0 ${WIDTH} ${bottom + 22}`} role="img" aria-label=${`${number(total)} decisions, ${number(errors.reduce((a, b) => a + b, 0))} of them errors, from ${labels[0]} to ${labels.at(-1)}; the table below has each number`}>
      ${[0, 0.5, 1].map(part => html`<line class="grid" x1=${LEFT} x2=${WIDTH} y1=${TOP + HIGH * (1 - part)} y2=${TOP + HIGH * (1 - part)} /><text x=${LEFT - 6} y=${TOP + HIGH * (1 - part) + 3} text-anchor="end">${brief(most * part)}</text>`)}
      ${[0, 1].map(part => html`<line class="grid" x1=${LEFT} x2=${WIDTH} y1=${bottom - LOW * part} y2=${bottom - LOW * part} /><text x=${LEFT - 6} y=${bottom - LOW * part + 3} text-anchor="end">${part ? Number((share * 100).toPrecision(2)) : 0} %</text>`)}
      ${sums.map((sum, at) => html`<rect class="c" x=${x(at) + 1.5} width=${Math.max(1, step - 3)} y=${TOP + HIGH * (1 - sum / most)} height=${(HIGH * sum) / most} />`)}
      ${sums.map((_, at) => errors[at] > 0 && html`<rect class="e" x=${x(at) + 1.5} width=${Math.max(1, step - 3)} y=${TOP + HIGH - Math.max(1, (HIGH * errors[at]) / most)} height=${Math.max(1, (HIGH * errors[at]) / most)} />`)}
      ${labels.map((label, at) => marks[label] && html`<line class="mark" x1=${x(at) + step / 2} x2=${x(at) + step / 2} y1=${TOP + HIGH + 14} y2=${bottom} /><text x=${x(at) + step / 2} y=${TOP + HIGH + 12} text-anchor="middle">${marks[label]}</text>`)}
      <polyline class="l" points=${line} />
      ${[0, Math.floor(labels.length / 2), labels.length - 1].map((at, place) => html`<text x=${[LEFT, x(at) + step / 2, WIDTH][place]} y=${bottom + 16} text-anchor=${['start', 'middle', 'end'][place]}>${onAxis(labels[at])}</text>`)}
    </svg></div>
    <details><summary>Numbers as a table</summary><table aria-label=${unit === 'hour' ? 'Decisions an hour' : 'Decisions a day'}><thead><tr><th scope="col">${unit === 'hour' ? 'Hour' : 'Day'}</th><th scope="col" class="num">Decisions</th><th scope="col" class="num">Denied</th><th scope="col" class="num">Share</th><th scope="col" class="num">Errors</th></tr></thead>
      <tbody>${labels.map((label, at) => html`<tr><td>${label}</td><td class="num">${number(sums[at])}</td><td class="num">${number(denied[at])}</td><td class="num">${percent(denied[at], sums[at])}</td><td class="num">${number(errors[at])}</td></tr>`)}</tbody></table></details>`;
}
