// What an upstream changed of a tool, against the text that was approved, as agents read it.
import { html } from '../html.js';
import { Text, visible } from '../text.js';
import { When } from '../time.js';
import { compareWords } from './diff.js';

const json = value => (value === undefined ? '' : JSON.stringify(value));

// A text with what went struck through and what came underlined, beside the colours.
export function Words({ before, after }) {
  return html`<bdi class="prose">${compareWords(visible(before), visible(after)).map(([kind, text]) => (kind === '-' ? html`<del>${text}</del>` : kind === '+' ? html`<ins>${text}</ins>` : text))}</bdi>`;
}

// Return [[member, before, after]…] of the arguments that differ, with the words that their schema says.
function argumentsOf(before, after) {
  const names = [...new Set([...Object.keys(before?.properties ?? {}), ...Object.keys(after?.properties ?? {})])];
  const need = (schema, name) => (schema?.required?.includes(name) ? 'required ' : '');
  const one = (schema, name) => (schema?.properties?.[name] === undefined ? '' : need(schema, name) + json(schema.properties[name]));
  return names.map(name => [name, one(before, name), one(after, name)]).filter(([, a, b]) => a !== b);
}

// Names of other tools of the resource in a text: a way to lead an agent on.
const named = (text, others) => others.filter(name => name.length > 3 && text.includes(name));

export function ToolChange({ tool, others }) {
  const { pin } = tool, was = pin.approvedText;
  if (!was) return null;
  const changed = argumentsOf(was.inputSchema, tool.inputSchema);
  const fresh = compareWords(was.description ?? '', tool.description ?? '').filter(([kind]) => kind === '+').map(([, text]) => text).join(' ');
  const names = named(fresh, others);
  const rows = [
    ['Title', was.title ?? '', tool.title ?? ''], ['Description', was.description ?? '', tool.description ?? ''],
    ['Hints', json(was.upstreamAnnotations), json(tool.upstreamAnnotations)], ['Result', json(was.outputSchema), json(tool.outputSchema)],
  ];
  const rest = (schema = {}) => { const { properties: _, required: __, ...others_ } = schema; return json(others_); };
  const form = rest(was.inputSchema) !== rest(tool.inputSchema);
  return html`<section class="box change" aria-label="What the upstream changed"><header><h3>What the upstream changed</h3><span class="small">read <${When} at=${pin.seenAt} /> · against the text that ${pin.approvedBy ? html`<${Text} of=${pin.approvedBy} /> approved` : 'the first sync found'}${pin.approvedAt ? html` on <${When} at=${pin.approvedAt} />` : ''}</span></header>
    <dl class="in facts">${rows.filter(([, a, b]) => a !== b).map(([name, a, b]) => html`<dt>${name}</dt><dd><${Words} before=${a} after=${b} /></dd>`)}
      ${changed.length > 0 && html`<dt>Arguments</dt><dd>${changed.map(([name, a, b]) => html`<div><code><${Text} of=${name} /></code>: <${Words} before=${a} after=${b} /></div>`)}</dd>`}
      ${form && html`<dt>Form of the arguments</dt><dd><${Words} before=${rest(was.inputSchema)} after=${rest(tool.inputSchema)} /></dd>`}
      <dt>Pin</dt><dd><code>${pin.approved?.slice(0, 12)} → ${pin.sha256?.slice(0, 12)}</code></dd></dl>
    ${names.length > 0 && html`<div class="in"><p class="note"><b>The new text names ${names.length === 1 ? 'another tool' : 'other tools'}:</b> ${names.map(name => html`<code><${Text} of=${name} /></code> `)}</p></div>`}</section>`;
}
