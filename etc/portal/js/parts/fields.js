// The fields of forms. A fault of the service stands below its field.
import { html } from '../html.js';
import { Text, brief, visible } from '../text.js';

export const idOf = name => `f-${name.replace(/[^A-Za-z0-9]/g, '-')}`;

// Return the id of the field that shows a fault of the service: that of the name, or of what holds it.
export function nearest(name) {
  for (let at = name; at; at = at.replace(/(\[[^\]]*\]|\.?[^.[]+)$/, '')) if (document.getElementById(idOf(at))) return idOf(at);
  return idOf(name);
}

// Return the fault that the service told for a field, also for one entry of its list.
export const faultOf = (error, name) => Object.entries(error?.fields ?? {}).filter(([key]) => key === name || key.startsWith(`${name}[`) || key.startsWith(`${name}.`)).map(([key, text]) => (key === name ? text : `${key}: ${text}`)).join('; ');

// True if a text of the form is no JSON; it gets the focus.
export function notJson(form) {
  const bad = form.querySelector('[data-not-json]');
  show(bad);
  return bad !== null;
}

// Focus an element, and open what it stands in.
export function show(element) {
  for (let box = element?.closest('details'); box; box = box.parentElement.closest('details')) box.open = true;
  element?.focus();
}

const number = text => (text === '' ? undefined : Number(text));
const lines = text => text.split(/\s+/).filter(Boolean);

// kind: text, long, number, list (one entry a line), check, choice and many (with values). set(value) gets what JSON holds.
export function Field({ name, label, help, kind = 'text', values = [], none = 'as the service chooses', step, value, set, error, warning, readOnly, required }) {
  const id = idOf(name), fault = faultOf(error, name);
  const common = { id, 'aria-invalid': fault ? 'true' : undefined, 'aria-describedby': `${id}-help ${id}-fault ${id}-warning`, disabled: readOnly };
  const one = word => html`<label class="check"><input type="checkbox" disabled=${readOnly} checked=${(value ?? []).includes(word)} onChange=${event => set(event.target.checked ? [...(value ?? []), word] : value.filter(other => other !== word))} />${visible(word)}</label>`;
  const control = {
    text: () => html`<input ...${common} value=${value ?? ''} required=${required} autocomplete="off" spellcheck=${false} onInput=${event => set(event.target.value)} />`,
    long: () => html`<textarea ...${common} class="prose" rows=${Math.min(8, Math.max(2, String(value ?? '').split('\n').length + 1))} value=${value ?? ''} onInput=${event => set(event.target.value)} />`,
    number: () => html`<input ...${common} type="number" step=${step} value=${value ?? ''} onInput=${event => set(number(event.target.value))} />`,
    list: () => html`<textarea ...${common} rows=${Math.min(8, Math.max(2, (value ?? []).length + 1))} spellcheck=${false} value=${(value ?? []).join('\n')} onChange=${event => set(lines(event.target.value))} />`,
    choice: () => html`<select ...${common} value=${value ?? ''} onChange=${event => set(event.target.value)}>${values.map(each => html`<option value=${each}>${visible(each) || none}</option>`)}</select>`,
    check: () => html`<span class="check"><input type="checkbox" ...${common} checked=${Boolean(value)} onChange=${event => set(event.target.checked)} /><label for=${id}><${Text} of=${label} bare /></label></span>`,
    many: () => html`<div class="many" id=${id} role="group" aria-label=${brief(label)} tabindex="-1" aria-describedby=${common['aria-describedby']}>${values.map(one)}</div>`,
  }[kind];
  const title = html`<${Text} of=${label} bare />${required ? html` <span class="quiet">required</span>` : ''}`;
  return html`<div class="field">${kind === 'many' ? html`<span class="label">${title}</span>` : kind !== 'check' && html`<label for=${id}>${title}</label>`}${control()}
    <p class="help" id=${`${id}-help`}><${Text} of=${help} /></p>${warning && html`<p class="warned" id=${`${id}-warning`}><span class="state warn"><${Text} of=${warning} /></span></p>`}${fault && html`<p class="fault" id=${`${id}-fault`}><${Text} of=${fault} /></p>`}</div>`;
}
