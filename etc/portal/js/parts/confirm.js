// Asks before what cannot be undone: the consequence, the name to type, a button that repeats the verb.
import { html, useLayoutEffect, useRef, useState } from '../html.js';
import { Text, visible } from '../text.js';

export function Confirm({ title, children, type, verb, act, close }) {
  const box = useRef(), field = useRef(), told = useRef();
  const name = type && visible(type); // as it is shown, so that it can be typed
  const [typed, setTyped] = useState('');
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  useLayoutEffect(() => { box.current.showModal(); }, []);
  const submit = async event => {
    event.preventDefault();
    if (busy) return;
    if (type && typed !== type && typed !== name) { setFault(`Type ${name}.`); field.current.focus(); return; }
    setBusy(true);
    try { await act(); box.current?.close(); } catch (error) { setFault(`${visible(error.message)} (${error.status} ${error.code})`); told.current.focus(); }
    setBusy(false);
  };
  return html`<dialog ref=${box} onClose=${close} aria-labelledby="confirm"><form onSubmit=${submit}>
    <h2 id="confirm"><${Text} of=${title} /></h2><div>${children}</div>
    ${type && html`<div class="field"><label for="confirm-name">Type <code>${name}</code></label><input id="confirm-name" autofocus ref=${field} aria-invalid=${fault && typed !== name ? 'true' : undefined} autocomplete="off" spellcheck=${false} value=${typed} onInput=${event => setTyped(event.target.value)} aria-describedby="confirm-fault" /></div>`}
    <p id="confirm-fault" class="fault" role="alert" tabindex="-1" ref=${told}>${fault}</p>
    <div class="acts"><button class="danger" disabled=${busy}>${verb}</button><button type="button" onClick=${() => box.current.close()}>Cancel</button></div></form></dialog>`;
}
