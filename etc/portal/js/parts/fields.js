// The fields of forms. A fault of the service stands below its field.
import { html } from '../html.js';
import { Text } from '../text.js';

export const idOf = name => `f-${name.replace(/[^A-Za-z0-9]/g, '-')}`;

// Return the fault that the service told for a field, also for one entry of its list.
const faultOf = (error, name) => Object.entries(error?.fields ?? {}).filter(([key]) => key === name || key.startsWith(`${name}[`) || key.startsWith(`${name}.`)).map(([key, text]) => (key === name ? text : `${key}: ${text}`)).join('; ');

// kind: text, list (one entry a line), check, choice (with values). set(value) gets what JSON holds.
export function Field({ name, label, help, kind = 'text', values = [], none = 'as the service chooses', value, set, error, readOnly, required }) {
  const id = idOf(name), fault = faultOf(error, name);
  const common = { id, 'aria-invalid': fault ? 'true' : undefined, 'aria-describedby': `${id}-help ${id}-fault`, disabled: readOnly };
  const control = {
    text: () => html`<input ...${common} value=${value ?? ''} required=${required} autocomplete="off" spellcheck=${false} onInput=${event => set(event.target.value)} />`,
    list: () => html`<textarea ...${common} rows=${Math.min(8, Math.max(2, (value ?? []).length + 1))} spellcheck=${false} value=${(value ?? []).join('\n')} onChange=${event => set(event.target.value.split(/\s+/).filter(Boolean))} />`,
    choice: () => html`<select ...${common} value=${value ?? ''} onChange=${event => set(event.target.value)}>${values.map(one => html`<option value=${one}>${one || none}</option>`)}</select>`,
    check: () => html`<span class="check"><input type="checkbox" ...${common} checked=${Boolean(value)} onChange=${event => set(event.target.checked)} /><label for=${id}>${label}</label></span>`,
  }[kind];
  return html`<div class="field">${kind !== 'check' && html`<label for=${id}>${label}${required ? html` <span class="quiet">required</span>` : ''}</label>`}${control()}
    <p class="help" id=${`${id}-help`}>${help}</p>${fault && html`<p class="fault" id=${`${id}-fault`}><${Text} of=${fault} /></p>`}</div>`;
}
