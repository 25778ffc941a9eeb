// Texts of others as text: isolated, cut, and with control and bidi characters shown.
import { html, useState } from './html.js';

const CUT = 200;
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;
const shown = character => `⟨U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

// Return the text with characters that cannot be seen, or reorder others, as ⟨U+202E⟩.
export const visible = text => String(text ?? '').replace(HIDDEN, shown);

// A text of others, cut at 200 characters with a button for the rest.
export function Text({ of, code = false, whole = false }) {
  const [open, setOpen] = useState(whole);
  const all = visible(of);
  const text = open || all.length <= CUT ? all : `${all.slice(0, CUT)}…`;
  const more = !open && all.length > CUT;
  return html`<bdi class=${code ? 'code' : undefined}>${text}</bdi>${more && html` <button type="button" class="plain" onClick=${() => setOpen(true)}>all ${number(all.length)} characters</button>`}`;
}

export const number = value => (typeof value === 'number' ? value.toLocaleString('en') : String(value ?? ''));
export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;
export const percent = (part, whole) => (whole > 0 ? `${((100 * part) / whole).toFixed(2)} %` : '0 %');

// Quote a word for a POSIX shell.
export const shell = word => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${String(word).replaceAll("'", "'\\''")}'`);

// Return JSON as one word of a POSIX shell. Between two marks stands the name of a variable, which the shell puts in.
export function quoteJson(body, mark) {
  const parts = JSON.stringify(body).split(mark);
  return parts.map((part, at) => (at % 2 ? `"$${part}"` : part && `'${part.replaceAll("'", "'\\''")}'`)).join('');
}

// Return the shell command that sends the same request with a key. words: the body as the shell reads it, if it has variables.
export function curl(method, path, body, { headers = {}, words } = {}) {
  const base = new URL('../admin/api/', location.href);
  const all = ['curl -sS', method === 'GET' ? '' : `-X ${method}`, `-H "X-Admin-API-Key: $SVC_ADMIN_API_KEY"`, ...Object.entries(headers).map(([name, value]) => `-H ${shell(`${name}: ${value}`)}`)];
  if (body !== undefined) all.push("-H 'Content-Type: application/json'", `-d ${words ?? shell(JSON.stringify(body))}`);
  return `${all.filter(Boolean).join(' \\\n  ')} \\\n  ${shell(new URL(path, base).href)}`;
}
