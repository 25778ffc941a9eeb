// JSON with the names, texts and numbers told apart; all of it is text nodes.
import { html } from '../html.js';
import { visible } from '../text.js';

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*|true|false|null)/g;

export function Json({ of }) {
  const text = visible(typeof of === 'string' ? of : JSON.stringify(of, null, 2) ?? '');
  const parts = [];
  let last = 0;
  for (const found of text.matchAll(TOKEN)) {
    if (found.index > last) parts.push(text.slice(last, found.index));
    const kind = found[1] ? (found[2] ? 'k' : 's') : 'v';
    parts.push(html`<span class=${kind}>${found[1] ?? found[3]}</span>`, found[2] ?? '');
    last = found.index + found[0].length;
  }
  parts.push(text.slice(last));
  return html`<pre class="json" tabindex="0"><bdi>${parts}</bdi></pre>`;
}
