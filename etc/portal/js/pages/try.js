// Try: an input of your own, or that of a decision, asked of the active policy; the result and the trace.
import { get, request, useData } from '../api.js';
import { html, useState } from '../html.js';
import { useKeys } from '../keys.js';
import { Reason } from '../parts/decision.js';
import { Elsewhere } from '../parts/elsewhere.js';
import { Outcome } from '../parts/flow.js';
import { Matrix } from '../parts/matrix.js';
import { Refusal } from '../parts/refusal.js';
import { Of } from '../parts/states.js';
import { Json } from '../parts/tree.js';
import { to } from '../route.js';
import { Text, curl, number, plural, visible } from '../text.js';
import { Code } from './rules.js';

const PATHS = ['issue', 'introspect', 'gateway', 'gateway_tools', 'authzen', 'authzen_batch', 'register', 'admin'].map(name => `svc/decision/${name}`);
const START = JSON.stringify({ schema: 1, evaluation: 'issue', client: { id: 'shop' } }, null, 2);
const SHOWN = 400;

// One line of the trace: file:line | words. A line that failed is marked; the file leads to the rule.
function Trace({ lines }) {
  const [all, showAll] = useState(false);
  const failed = lines.findIndex(line => /\| *Fail /.test(line));
  const rows = all ? lines : lines.slice(0, SHOWN);
  return html`<section class="panel"><header><h2>Trace</h2><span class="quiet">${plural(lines.length, 'step')}${failed >= 0 && html` · the first that failed is step ${failed + 1}`}</span></header>
    <ol class="lines" role="list">${rows.map((line, at) => {
      const [, file, number_, rest] = /^(\S+\.rego):(\d+)\s*(.*)$/.exec(line) ?? [];
      return html`<li class=${/\| *Fail /.test(line) ? 'hit' : undefined}><span class="n">${at + 1}</span><span class="t">${file ? html`<a href=${to(['rules', file], { line: number_ })}>${file}:${number_}</a> ${visible(rest)}` : visible(line)}</span></li>`;
    })}</ol>${!all && lines.length > SHOWN && html`<footer><button type="button" onClick=${() => showAll(true)}>All ${number(lines.length)} steps</button></footer>`}</section>`;
}

// The answer as a sentence, its reasons with the rule and the members it looks at, and the whole as JSON on demand.
function Answer({ answer, input }) {
  const { result } = answer, list = result?.deny_reasons ?? [];
  const sentence = answer.undefined ? 'No answer: no rule of the policy has this path, or none holds.'
    : result?.allow === true ? 'Allowed.' : result?.allow === false ? `Denied${list[0]?.message ? `: ${list[0].message}` : list.length ? `: ${list[0].code}` : ', by no rule of its own: none permits it'}.` : 'It has a value that is no decision.';
  return html`<section class="panel" aria-label="Result"><div class=${result?.allow === false ? 'verdict no' : 'verdict'}>${typeof result?.allow === 'boolean' && html`<p class="small"><${Outcome} of=${result.allow ? 'allowed' : 'denied'} /> by revision <code>${answer.revision?.slice(0, 8)}</code></p>`}<h2><${Text} of=${sentence} /></h2>
      ${result?.allow && result.scopes?.length > 0 && html`<p>With ${result.scopes.map(scope => html`<span class="chip"><${Text} of=${scope} /></span>`)}</p>`}</div>
    <div class="in">${list.map((reason, at) => html`<${Reason} key=${reason.code + at} reason=${reason} at=${at + 1} of=${list.length} input=${input} />`)}
      <details open=${typeof result?.allow !== 'boolean'}><summary>The answer as JSON</summary><${Json} of=${result ?? null} /></details></div></section>`;
}

function Form({ start }) {
  const [path, setPath] = useState(start.path);
  const [input, setInput] = useState(start.input);
  const [state, set] = useState({});
  const asked = explain => ({ path, input: JSON.parse(input), explain });
  const ask = async () => {
    if (state.busy) return;
    set({ busy: true });
    try { const body = asked(true); set({ answer: (await request('POST', 'policy-rules/evaluate', { body })).data, input: body.input }); } catch (error) { set({ error }); }
  };
  useKeys({ 'Ctrl+Enter': ask });
  const { answer, error } = state;
  return html`<div class="cols half"><section class="panel" aria-label="Question"><header><h2>Question</h2></header><div class="in">
        <div class="field"><label for="try-path">Decision</label><select id="try-path" value=${path} onChange=${event => setPath(event.target.value)}>${[...new Set([path, ...PATHS])].map(one => html`<option value=${one}>${one}</option>`)}</select></div><p class="label">Input</p></div>
      <${Code} label="Input" language="json" value=${input} change=${setInput} />
      <footer><span class="acts"><button type="button" class="main" onClick=${ask} disabled=${state.busy}>Ask policy <kbd aria-hidden="true">Ctrl ⏎</kbd></button>
        <${Elsewhere} label="As curl" title="This question, in a shell" text=${() => { try { return curl('POST', 'policy-rules/evaluate', asked(false)); } catch (fault) { return `The input is not JSON: ${fault.message}`; } }} /></span></footer></section>
    <div>${error && (error.status ? html`<${Refusal} error=${error} />` : html`<p class="refused" role="alert">The input is not JSON: ${visible(error.message)}</p>`)}
      ${answer
        ? html`<${Answer} answer=${answer} input=${state.input} />
            ${answer.explanation?.length > 0 && html`<${Trace} lines=${answer.explanation} />`}`
        : !error && html`<section class="panel"><div class="in quiet">Nothing is issued, sent or recorded as a decision. The answer stands here as a sentence, with the rule that decides, the members it looks at, and the trace.</div></section>`}</div></div>`;
}

async function load(id, signal) {
  if (!id) return { path: PATHS[0], input: START };
  const row = await get(`audit-logs/${encodeURIComponent(id)}`, { signal });
  if (!row.policyInput) return { path: PATHS[0], input: START, none: true };
  return { path: PATHS.find(path => path.endsWith(`/${row.policyInput.evaluation}`)) ?? PATHS[0], input: JSON.stringify(row.policyInput, null, 2) };
}

export default function Try({ place }) {
  const id = place.query.get('decision') ?? '';
  const from = useData(signal => load(id, signal), [id]);
  return html`<div class="head"><div><h1 tabindex="-1">Try</h1><p>${id ? html`The question of decision <a href=${to(['decisions'], { open: id })}>${id}</a>; change it, and ask again.` : 'A question of your own, asked of the active policy.'}</p></div></div>
    <${Of} from=${from} what="The decision cannot be read">${start => html`${start.none && html`<p class="note">Decision ${id} records no question to policy.</p>`}<${Form} key=${id} start=${start} />`}<//><p></p><${Matrix} place=${place} />`;
}
