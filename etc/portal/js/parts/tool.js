// The tester of a tool: a form from its inputSchema. "Ask policy" sends nothing upstream; "Call it…" asks first, unless the tool says
// that it only reads.
import { request } from '../api.js';
import { html, useState } from '../html.js';
import { to } from '../route.js';
import { may } from '../session.js';
import { Text, brief, curl } from '../text.js';
import { span } from '../time.js';
import { Confirm } from './confirm.js';
import { Elsewhere } from './elsewhere.js';
import { Field, nearest, notJson } from './fields.js';
import { Outcome } from './flow.js';
import { SchemaForm } from './schema_form.js';
import { Refused } from './states.js';
import { Json } from './tree.js';

const hints = tool => ({ ...tool.upstreamAnnotations, ...tool.annotations });
// What an upstream claims of a tool is no reason not to ask: only what the operator says.
const readsOnly = tool => tool.annotations?.readOnlyHint === true;

function Answer({ of }) {
  if (!of.allow) {
    return html`<div class="refused" role="status"><p><${Outcome} of="denied" /> nothing was sent upstream</p>
      ${of.denyReasons.map(reason => html`<p><a href=${to(['decisions'], { reason: reason.code })}><code><${Text} of=${reason.code} bare /></code></a>: <${Text} of=${reason.message ?? ''} />${reason.control && reason.control !== 'custom' && html` <a href=${to(['controls', reason.control])}>control ${reason.control}</a>`}</p>`)}
      ${of.stepUp && html`<p>The token would need ${of.stepUp.map(scope => html`<span class="chip"><${Text} of=${scope} /></span>`)}</p>`}</div>`;
  }
  const failed = of.result?.isError;
  return html`<div class=${of.why || failed ? 'note' : 'done'} role="status"><p><${Outcome} of="allowed" /> ${of.sent ? `the upstream answered${of.upstreamStatus ? ` ${of.upstreamStatus}` : ''} in ${span(of.ms)}` : 'nothing was sent upstream'}</p>
      ${of.why && html`<p><${Text} of=${of.why} />.</p>`}${of.obligations && Object.keys(of.obligations).length > 0 && html`<p>Policy demands: <code><${Text} of=${JSON.stringify(of.obligations)} /></code></p>`}</div>
    ${of.result && html`<div class="box"><header><h3>Result</h3></header><${Json} of=${of.result} /></div>`}`;
}

export function ToolTester({ resource, start }) {
  const tools = resource.tools ?? [];
  const [name, choose] = useState(start ?? tools[0]?.name);
  const [who, setWho] = useState({});
  const [given, setGiven] = useState({});
  const [state, set] = useState({});
  const [asks, ask] = useState(false);
  const tool = tools.find(one => one.name === name);
  if (!tool) return null;
  const path = `managed-resources/${encodeURIComponent(resource.name)}/tools/${encodeURIComponent(name)}/try`;
  const filled = Object.fromEntries(Object.entries(who).filter(([, value]) => value !== ''));
  const body = call => ({ ...filled, arguments: given, ...(call ? { call: true } : {}) });
  const send = async call => {
    if (state.busy) return;
    set({ busy: true });
    try { set({ answer: (await request('POST', path, { body: body(call) })).data }); } catch (error) { set({ error }); }
  };
  const field = (key, label, help) => html`<${Field} name=${key} label=${label} help=${help} value=${who[key]} set=${value => setWho(old => ({ ...old, [key]: value }))} error=${state.error} />`;
  const submit = event => { event.preventDefault(); if (!notJson(event.target)) send(false); };
  const call = event => { if (notJson(event.target.form)) return; if (readsOnly(tool)) send(true); else ask(true); };
  const { destructiveHint } = hints(tool), operator = may('operator');
  return html`<section class="panel"><header><h2>Try a tool</h2></header><form class="in" onSubmit=${submit} noValidate>
      <div class="field"><label for="try-tool">Tool</label><select id="try-tool" value=${name} onChange=${event => { choose(event.target.value); setGiven({}); set({}); }}>${tools.map(one => html`<option value=${one.name}>${brief(one.name)}</option>`)}</select></div>
      <div class="pair">${field('clientId', 'Client', '')}${field('subject', 'Person', 'Empty: the client itself.')}</div>
      <details class="more"><summary>More: provider and scopes</summary><div class="in">${field('idp', 'Identity provider', 'Empty: where the person signed in last.')}${field('scope', 'Scopes', 'Empty: those that the tool needs.')}</div></details>
      <${SchemaForm} key=${name} schema=${tool.inputSchema ?? { type: 'object', properties: {} }} value=${given} set=${setGiven} error=${state.error} />
      <div class="acts"><button class="main" disabled=${state.busy}>Ask policy</button>${operator && html`<button type="button" onClick=${call} disabled=${state.busy}>Call it${readsOnly(tool) ? '' : '…'}</button>`}
        <${Elsewhere} label="As curl" title="This question, in a shell" text=${() => curl('POST', path, body(false))} /></div><p></p>
      ${state.error && html`<${Refused} error=${state.error} fieldId=${nearest} />`}${state.answer && html`<${Answer} of=${state.answer} />`}
      <p class="small">“Ask policy” asks the active policy and sends nothing. ${operator && `“Call it” sends a real request with your name in the audit log${readsOnly(tool) ? '.' : `, and asks first because the tool ${destructiveHint ? 'is destructive' : 'is not marked as one that only reads'}.`}`}</p></form>
    ${asks && html`<${Confirm} title=${`Call ${name} at ${resource.name}?`} type=${name} verb="Call it" act=${() => send(true)} close=${() => ask(false)}><p>The upstream gets a real request, for <${Text} of=${who.subject || who.clientId || 'the client'} />, if policy allows it. It may change data there.</p><//>`}</section>`;
}
