// The tree of rules: the folders of the operator first, the shipped ones behind.
import { html } from '../html.js';
import { to } from '../route.js';
import { visible } from '../text.js';

// Return the lines of the tree: [{depth, name, path?, rule?}].
function lines(paths) {
  const out = [];
  let before = [];
  for (const path of paths) {
    const parts = path.split('/');
    const folders = parts.slice(0, -1);
    folders.forEach((name, depth) => { if (before[depth] !== name || before.slice(0, depth).join('/') !== folders.slice(0, depth).join('/')) out.push({ depth, name }); });
    before = folders;
    out.push({ depth: folders.length, name: parts.at(-1), path });
  }
  return out;
}

export function RuleTree({ rules, draft, current }) {
  const stored = new Map(rules.map(rule => [rule.path, rule]));
  const all = [...new Set([...stored.keys(), ...Object.keys(draft.rules)])].sort();
  const own = all.filter(path => !path.startsWith('svc/')), shipped = all.filter(path => path.startsWith('svc/'));
  const mark = path => (draft.deleteRules.includes(path) ? 'deleted' : path in draft.rules ? 'draft' : stored.get(path)?.enabled === false ? 'off' : '');
  const item = line => (line.path
    ? html`<li><a class=${`d${line.depth}`} href=${to(['rules', line.path])} title=${visible(line.path)} aria-current=${line.path === current ? 'page' : undefined}><span class="cut">${visible(line.name)}</span>${mark(line.path) && html` <span class=${mark(line.path) === 'off' ? 'quiet' : 'state warn'}>${mark(line.path)}</span>`}</a></li>`
    : html`<li><span class=${`d${line.depth}`}>${visible(line.name)}</span></li>`);
  return html`<nav aria-label="Rules">
    ${own.length ? html`<ul class="tree">${lines(own).map(item)}</ul>` : html`<p class="in quiet">No rule of your own yet. The shipped rules decide.</p>`}
    <details open=${Boolean(current?.startsWith('svc/'))}><summary class="in">svc (shipped, ${shipped.length} files)</summary><ul class="tree">${lines(shipped).map(item)}</ul></details></nav>`;
}
