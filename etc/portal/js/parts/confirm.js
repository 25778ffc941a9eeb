// Asks before what cannot be undone: the consequence, the name to type, a button that repeats the verb.
import { html, useLayoutEffect, useRef, useState } from '../html.js';
import { Text } from '../text.js';

export function Confirm({ title, children, type, verb, act, close }) {
  const box = useRef();
  const [typed, setTyped] = useState('');
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  useLayoutEffect(() => { box.current.showModal(); }, []);
  const submit = async event => {
    event.preventDefault();
    if (type && typed !== type) { setFault(`Type ${type}.`); return; }
    setBusy(true);
    try { await act(); box.current?.close(); } catch (error) { setFault(`${error.message} (${error.status} ${error.code})`); }
    setBusy(false);
  };
  return html`<dialog ref=${box} onClose=${close} aria-labelledby="confirm"><form onSubmit=${submit}>
    <h2 id="confirm"><${Text} of=${title} /></h2><div>${children}</div>
    ${type && html`<div class="field"><label for="confirm-name">Type <code>${type}</code></label><input id="confirm-name" autocomplete="off" spellcheck=${false} value=${typed} onInput=${event => setTyped(event.target.value)} aria-describedby="confirm-fault" /></div>`}
    <p id="confirm-fault" class="fault" role="alert">${fault}</p>
    <div class="acts"><button class="danger" disabled=${busy}>${verb}</button><button type="button" onClick=${() => box.current.close()}>Cancel</button></div></form></dialog>`;
}
