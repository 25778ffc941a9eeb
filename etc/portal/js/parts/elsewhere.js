// The same elsewhere: a command or a document that a button shows and copies.
import { html, useEffect, useRef, useState } from '../html.js';

export function Copy({ text, label = 'Copy' }) {
  const [done, set] = useState('');
  const copy = async () => {
    try { await navigator.clipboard.writeText(text); set('Copied'); } catch { set('The browser refused; select the text'); }
  };
  return html`<button type="button" onClick=${copy}>${label}</button> <span role="status" class="small">${done}</span>`;
}

// A button that opens a dialog with the text.
export function Elsewhere({ label, title, text, note }) {
  const [open, set] = useState(false);
  return html`<button type="button" onClick=${() => set(true)}>${label}</button>${open && html`<${Shown} title=${title} text=${typeof text === 'function' ? text() : text} note=${note} close=${() => set(false)} />`}`;
}

function Shown({ title, text, note, close }) {
  const box = useRef();
  useEffect(() => { box.current.showModal(); }, []);
  return html`<dialog ref=${box} onClose=${close} aria-labelledby="elsewhere">
    <h2 id="elsewhere">${title}</h2>
    <pre class="cmd" tabindex="0">${text}</pre>
    ${note && html`<p class="small">${note}</p>`}
    <p></p><${Copy} text=${text} /> <button type="button" onClick=${() => box.current.close()}>Close</button>
  </dialog>`;
}
