// Texts of others as text: isolated, cut, and with control and bidi characters shown.
import { html, useLayoutEffect, useRef, useState } from './html.js';

const CUT = 200;
// What cannot be seen (fcgi/base/visible.c), but for tab and line feed; and the characters that can hide octets behind an emoji.
export const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}]/gu;
const shown = character => `⟨U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

// Return the text with characters that cannot be seen, or reorder others, as ⟨U+202E⟩.
export const visible = text => String(text ?? '').replace(HIDDEN, shown);

// The same, cut at 200 characters.
export function brief(of) {
  const all = visible(of);
  return all.length <= CUT ? all : `${all.slice(0, CUT)}… (${number(all.length)} characters)`;
}

// Return a text in which each word that is longer than `most` has … in its middle. A surrogate pair is not parted.
export function middle(of, most = 48) {
  const head = Math.ceil(most * 0.6), tail = most - head - 1;
  return visible(of).replace(/\S+/g, word => {
    const all = [...word];
    return all.length <= most ? word : `${all.slice(0, head).join('')}…${all.slice(-tail).join('')}`;
  });
}

// What is copied of a text that is cut in its middle is the whole of it.
addEventListener('copy', event => {
  const selected = getSelection(), element = selected?.anchorNode?.parentElement?.closest('[data-whole]');
  if (!element || !element.contains(selected.focusNode) || selected.toString() !== element.textContent) return;
  event.clipboardData.setData('text/plain', element.dataset.whole);
  event.preventDefault();
});

// A text of others, cut at 200 characters with a button for the rest; bare: without it, within a link or a button.
export function Text({ of, code = false, whole = false, bare = false }) {
  const [open, setOpen] = useState(whole);
  const box = useRef();
  useLayoutEffect(() => { if (open && !whole) box.current?.focus(); }, [open]); // the button goes with the press
  const all = visible(of);
  if (bare) {
    const cut = all.length > CUT ? brief(all) : middle(all);
    return cut === all ? html`<bdi>${all}</bdi>` : html`<bdi title=${all} data-whole=${all}>${cut}</bdi>`;
  }
  const text = open || all.length <= CUT ? all : `${all.slice(0, CUT)}…`;
  const more = !open && all.length > CUT;
  return html`<bdi class=${code ? 'code' : undefined} tabindex=${open && !whole ? -1 : undefined} ref=${box}>${text}</bdi>${more && html` <button type="button" class="plain" onClick=${() => setOpen(true)}>all ${number(all.length)} characters</button>`}`;
}

export const number = value => (typeof value === 'number' ? value.toLocaleString('en') : String(value ?? ''));
export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;
export const percent = (part, whole) => (whole > 0 ? `${((100 * part) / whole).toFixed(2)} %` : '0 %');

// Return JSON in which characters that cannot be seen are \u escapes: what is copied is what was shown.
const units = text => Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
export const jsonText = (value, space) => JSON.stringify(value, null, space)?.replace(HIDDEN, units);

// Quote a word for a POSIX shell. Characters that cannot be seen are octets of its printf.
const octets = text => [...new TextEncoder().encode(text)].map(octet => `\\0${octet.toString(8).padStart(3, '0')}`).join('');
const quoted = word => `'${word.replaceAll("'", "'\\''")}'`;
export function shell(word) {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  const text = String(word);
  if (text.search(HIDDEN) < 0) return quoted(text);
  return `"$(printf %b ${quoted(text.replaceAll('\\', '\\\\').replace(HIDDEN, octets))})"`;
}

// Return JSON as one word of a POSIX shell. Between two marks stands the name of a variable, which the shell puts in.
export function quoteJson(body, mark) {
  const parts = jsonText(body).split(mark);
  return parts.map((part, at) => (at % 2 ? `"$${part}"` : part && quoted(part))).join('');
}

// Return the shell command that sends the same request with a key. words: the body as the shell reads it, if it has variables.
export function curl(method, path, body, { headers = {}, words } = {}) {
  const base = new URL('../admin/api/', location.href);
  const all = ['curl -sS', method === 'GET' ? '' : `-X ${method}`, `-H "X-Admin-API-Key: $SVC_ADMIN_API_KEY"`, ...Object.entries(headers).map(([name, value]) => `-H ${shell(`${name}: ${value}`)}`)];
  if (body !== undefined) all.push("-H 'Content-Type: application/json'", `-d ${words ?? shell(jsonText(body))}`);
  return `${all.filter(Boolean).join(' \\\n  ')} \\\n  ${shell(new URL(path, base).href)}`;
}
