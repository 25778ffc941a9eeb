// Tables, pages of rows and filters that can be removed.
import { html, useRef, useState } from '../html.js';
import { changed, go } from '../route.js';
import { Text, brief } from '../text.js';

// The head of a column that sorts: its button turns the order round. sort: {now, by(order)}; column.sort: [first order, second].
function Head({ column, sort }) {
  const at = sort && column.sort ? column.sort.indexOf(sort.now) : -1;
  if (!sort || !column.sort) return html`<th scope="col" class=${column.num ? 'num' : undefined}>${column.hidden ? html`<span class="hide">${column.title}</span>` : column.title}</th>`;
  const down = at >= 0 && sort.now.startsWith('-');
  return html`<th scope="col" class=${column.num ? 'num' : undefined} aria-sort=${at < 0 ? undefined : down ? 'descending' : 'ascending'}>
    <button type="button" class="plain" onClick=${() => sort.by(column.sort[(at + 1) % column.sort.length])}>${column.title}${at >= 0 && html` <span aria-hidden="true">${down ? '↓' : '↑'}</span>`}</button></th>`;
}

// A real table. columns: [{title, cell(row), num, sort, hidden: the title is for readers alone,
// when: a time, which needs its title when the table is folded; name: of a client or person, which breaks late}]. The first cell holds the link. key(row), current(row).
export function Table({ label, columns, rows, key, current, sort }) {
  return html`<table class="fold" aria-label=${label}>
    <thead><tr>${columns.map(column => html`<${Head} column=${column} sort=${sort} />`)}</tr></thead>
    <tbody>${rows.map(row => html`<tr key=${key?.(row)} aria-current=${current?.(row) ? 'true' : undefined}>
      ${columns.map(column => html`<td class=${column.num ? 'num' : column.when ? 'when' : column.hidden || column.title === '' ? 'act' : column.name ? 'name' : undefined} data-label=${column.title}>${column.cell(row)}</td>`)}</tr>`)}</tbody>
  </table>`;
}

// Filters in the address: those that are set as pills that remove themselves, the others as buttons that ask for a value.
// filters: [[name, word, values]]; drop: parameters that a change removes. Those behind the first five come with a button.
export function Filters({ place, filters, drop = [], children }) {
  const [asked, ask] = useState();
  const [all, showAll] = useState(false);
  const field = useRef();
  const without = Object.fromEntries(drop.map(name => [name, undefined]));
  const set = (name, value) => { ask(); go(changed(place, { ...without, [name]: value })); };
  const isSet = ([name]) => place.query.get(name);
  const escape = event => { if (event.key === 'Escape') { event.preventDefault(); ask(); } };
  return html`<div class="pills" data-keeps-focus>
    ${filters.filter(isSet).map(([name, word]) => html`<button type="button" class="pill" aria-label=${`Remove the filter ${word} ${brief(place.query.get(name))}`} onClick=${() => set(name, undefined)}>${word} <b><${Text} of=${place.query.get(name)} bare /></b> <span aria-hidden="true">×</span></button>`)}
    ${filters.filter((one, at) => !isSet(one) && (all || at < 5)).map(([name, word, values]) => (asked === name
      ? html`<form onSubmit=${event => { event.preventDefault(); set(name, field.current.value.trim()); }}>
          ${values
            ? html`<select aria-label=${word} ref=${element => { field.current = element; element?.focus(); }} onKeyDown=${escape} onChange=${event => set(name, event.target.value)}><option value="">${word}…</option>${values.map(value => html`<option>${value}</option>`)}</select>`
            : html`<input aria-label=${word} ref=${element => { field.current = element; element?.focus(); }} onKeyDown=${escape} /><button>Filter</button>`}
        </form>`
      : html`<button type="button" class="pill add" onClick=${() => ask(name)}>+ ${word}</button>`))}
    ${!all && filters.length > 5 && html`<button type="button" class="pill add" onClick=${() => showAll(true)}>more…</button>`}
    ${children}
  </div>`;
}

// Tabs; chosen and choose are the caller's, who keeps them in the address.
export function Tabs({ label, tabs, chosen, choose, main }) {
  const move = event => {
    const at = tabs.findIndex(([name]) => name === chosen);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (next === undefined) return;
    const [name] = tabs.at(next % tabs.length);
    event.preventDefault();
    choose(name);
    event.currentTarget.querySelector(`[data-tab="${name}"]`).focus();
  };
  return html`<div class=${main ? 'tabs main-tabs' : 'tabs'} role="tablist" aria-label=${label} onKeyDown=${move}>
    ${tabs.map(([name, title]) => html`<button type="button" role="tab" data-tab=${name} aria-selected=${name === chosen ? 'true' : 'false'} tabindex=${name === chosen ? 0 : -1} onClick=${() => choose(name)}>${title}</button>`)}
  </div>`;
}
