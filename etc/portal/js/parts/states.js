// The states of lists, forms and saves.
import { html, useLayoutEffect, useRef } from '../html.js';
import { may, session } from '../session.js';
import { Text } from '../text.js';
import { show } from './fields.js';

// Nothing for 150 ms, then grey lines.
export const Loading = ({ slow }) => (slow ? html`<div class="grey" role="status"><span /><span /><span /><span /><p class="hide">Reading…</p></div>` : null);

// A request failed: what, the code, the request id, and another try.
export const Failed = ({ what, error, again }) => html`<div class="in" role="alert">
  <p><span class="state no">${what}</span></p>
  <p class="quiet">${error.status || ''} <${Text} of=${error.code} />${error.message && html` · <${Text} of=${error.message} />`}${error.requestId && html` · request <code>${error.requestId}</code>`}</p>
  ${again && html`<button type="button" onClick=${again}>Try again</button>`}
</div>`;

export const Empty = ({ title, children }) => html`<div class="in"><p class="strong">${title}</p><div class="quiet">${children}</div></div>`;

// Shows data when there are some: grey lines before the first, a line above while others load, the failure in their place. whole: the
// page has nothing else, so the failure is its heading, which gets the focus.
export function Of({ from, what, whole, children }) {
  if (from.error && from.data === undefined) return html`${whole && html`<div class="head"><h1 tabindex="-1">${what}</h1></div>`}<section class=${whole ? 'panel' : undefined}><${Failed} what=${what} error=${from.error} again=${from.again} /></section>`;
  if (from.data === undefined) return html`<${Loading} slow=${from.slow} />`;
  return html`<div class=${from.busy && from.slow ? 'busy-line' : undefined}>
    ${from.error && html`<${Failed} what=${what} error=${from.error} again=${from.again} />`}
    ${children(from.data)}
  </div>`;
}

// A save was refused: the summary has the focus, and links to the fields.
export function Refused({ error, fieldId }) {
  const box = useRef();
  useLayoutEffect(() => box.current?.focus(), [error]);
  const fields = Object.entries(error.fields ?? {});
  return html`<div class="refused" role="alert" tabindex="-1" ref=${box}>
    <b>Not saved: </b><${Text} of=${fields.length ? `${fields.length === 1 ? '1 field is' : `${fields.length} fields are`} not valid.` : `${error.message}.`} />
    ${fields.map(([name, text]) => html` <button type="button" class="plain" onClick=${() => show(document.getElementById(fieldId(name)))}><${Text} of=${name} /></button> <${Text} of=${text} />.`)}
    ${error.requestId && html` <span class="small">${error.status} ${error.code} · request ${error.requestId}</span>`}
  </div>`;
}

// Shown in place of the buttons of a form to a role that may not save it.
export function MayNot({ role }) {
  return may(role) ? null : html`<p class="note"><b>You may look, not change.</b> Your role is ${session()?.role}; <b>${role === 'owner' ? 'owner' : 'operator'}</b> may save this.</p>`;
}
