// The card of a decision: the verdict, each reason with its line, asked again, the way here, and the documents.
import { Failure, get, useData } from '../api.js';
import { count, useDraft } from '../draft.js';
import { html } from '../html.js';
import { to } from '../route.js';
import { session } from '../session.js';
import { Text, brief, curl, jsonText, number, visible } from '../text.js';
import { clockMs, day, When } from '../time.js';
import { membersAt } from './because.js';
import { Copy, Elsewhere } from './elsewhere.js';
import { Outcome, Way, asked, codesOf } from './flow.js';
import { Who, useNames } from './names.js';
import { Cell, again, cellOf, changesOf } from './matrix.js';
import { Failed, Of } from './states.js';
import { Tabs } from './table.js';
import { Json } from './tree.js';

// Lines of a rule around one of them.
export function Lines({ content, line, around = 3 }) {
  const all = content.split('\n');
  const from = line ? Math.max(0, line - 1 - around) : 0;
  const shown = all.slice(from, line ? line + around : 12);
  return html`<ol class="lines" role="list">${shown.map((text, at) => html`<li class=${from + at + 1 === line ? 'hit' : undefined}><span class="n">${from + at + 1}</span><span class="t">${visible(text) || ' '}</span></li>`)}</ol>`;
}

// Where a code is decided: the sites of the controls, else the rules of the operator that name it.
async function sitesOf(reason, signal) {
  const sites = [];
  if (reason.control && reason.control !== 'custom') {
    try {
      const control = await get(`controls/${encodeURIComponent(reason.control)}`, { signal });
      sites.push(...control.sites.filter(site => site.code === reason.code));
    } catch (fault) {
      if (!(fault instanceof Failure) || fault.status !== 404) throw fault;
    }
  }
  const rules = await get('policy-rules', { signal });
  if (!sites.length) {
    for (const rule of rules.filter(one => one.enabled && !one.path.startsWith('svc/'))) {
      const at = rule.content.split('\n').findIndex(text => text.includes(reason.code));
      if (at >= 0) sites.push({ file: rule.path, line: at + 1 });
    }
  }
  return sites.map(site => ({ ...site, content: rules.find(rule => rule.path === site.file)?.content }));
}

// What the question has where the rule looks.
function Members({ content, line, input }) {
  const list = line && input ? membersAt(content, line, input) : [];
  return list.length > 0 && html`<p class="in small">It looks at ${list.map(([name, value], at) => html`${at ? ', ' : ''}<code>${visible(name)}</code>, which is ${value === undefined ? html`<b>absent</b>` : html`<code><${Text} of=${jsonText(value)} /></code>`}`)}.</p>`;
}

// input: the question, whose members are named beside the rule.
export function Reason({ reason, at, of, input }) {
  const sites = useData(signal => sitesOf(reason, signal), [reason.code, reason.control]);
  return html`<h3>Reason ${at} of ${of}: <code><${Text} of=${reason.code} /></code> <span class="quiet">· control ${brief(reason.control ?? 'custom')}${reason.category ? ` · category ${brief(reason.category)}` : ''}</span></h3>
    <p><${Text} of=${reason.message ?? ''} /></p>
    <${Of} from=${sites} what="The rule cannot be read">${list => (list.length === 0
      ? html`<p class="quiet">No rule of the active policy names this code.</p>`
      : list.map(site => html`<div class="box"><header><a href=${to(['rules', site.file], { line: site.line })}><code><${Text} of=${site.file} bare /></code>, line ${site.line}</a></header>
          ${site.content !== undefined && html`<${Lines} content=${site.content} line=${site.line} /><${Members} content=${site.content} line=${site.line} input=${input} />`}</div>`))}<//>`;
}

const WORD = { true: 'allowed', false: 'denied' };
const outcome = answer => html`<${Outcome} of=${WORD[answer?.allow] ?? 'unknown'} />`;
const reasons = answer => answer?.deny_reasons?.map(reason => reason.code).join(', ') ?? '';

// The stored question, asked of the active policy.
// The same question to the active policy, to the revision before it, and to the draft.
function AskedAgain({ row }) {
  const then = row.policyDecision;
  const draft = useDraft(), changes = count(draft) > 0;
  const now = useData(signal => again(row.id, {}, signal), [row.id]);
  const others = useData(async signal => {
    const [active, before] = await get('bundle-audit?size=2', { signal });
    return { active, before, cell: before && await again(row.id, { revision: before.id }, signal).then(cellOf, error => { if (signal.aborted) throw error; return { error }; }) };
  }, [row.id]);
  const mine = useData(signal => (changes ? again(row.id, { changes: changesOf(draft) }, signal).then(cellOf, error => { if (signal.aborted) throw error; return { error }; }) : undefined), [row.id, JSON.stringify(draft)]);
  const { active, before, cell } = others.data ?? {};
  return html`<h3>Asked again</h3><div class="box"><table aria-label="Asked again">
    <thead><tr><th scope="col">Policy</th><th scope="col">Answer</th><th scope="col">Reasons</th></tr></thead>
    <tbody>
      <tr><td>then <span class="second"><code>${then.revision?.slice(0, 8)}</code></span></td><td>${outcome(then)}</td><td class="quiet"><${Text} of=${reasons(then)} /> ${then.eval_us !== undefined ? `${then.engine?.split('/')[0] ?? ''} engine, ${number(then.eval_us)} µs` : ''}</td></tr>
      ${now.data && now.data.comparable !== false && html`<tr><td>now <span class="second"><code>${now.data.revision?.slice(0, 8)}</code></span></td><td>${outcome(now.data.after)}</td><td class="quiet"><${Text} of=${now.data.changed ? reasons(now.data.after) || 'changed' : 'the same'} /></td></tr>`}
      ${now.data?.comparable === false && html`<tr><td>now</td><td><span class="state off">not known</span></td><td class="quiet">${now.data.notStored ? 'the values of the arguments were not stored' : visible(now.data.notComparable)}</td></tr>`}
      ${cell && html`<tr><td><a href=${to(['revisions', String(before.id)])}>revision ${before.id}</a></td><td><${Cell} of=${cell} /></td><td><a href=${to(['revisions', String(active.id)])}>what ${active.id} changed</a></td></tr>`}
      ${mine.data && html`<tr><td><a href="#/review">your draft</a></td><td><${Cell} of=${mine.data} /></td><td></td></tr>`}
    </tbody></table>${now.error && html`<${Failed} what="It cannot be asked again" error=${now.error} again=${now.again} />`}</div>`;
}

function Verdict({ row }) {
  const names = useNames();
  const first = row.policyDecision?.deny_reasons?.[0];
  const [verb, object, at] = asked(row);
  const sentence = first?.message ?? row.requestSummary?.reason;
  const headline = row.outcome === 'denied' ? sentence ?? 'Policy denied it' : row.outcome === 'allowed' ? 'Allowed' : sentence ?? `It was ${row.outcome}`;
  return html`<div class=${row.outcome === 'denied' ? 'verdict no' : 'verdict'}>
    <p class="small"><${Outcome} of=${row.outcome} /> <${When} at=${row.createdAt} form=${text => `${day(text)} ${clockMs(text)}`} /> · decision ${number(row.id)}</p>
    <h2><${Text} of=${headline.charAt(0).toUpperCase() + headline.slice(1)} />${/[.!?]$/.test(headline) ? '' : '.'}</h2>
    <p><b>${row.clientId || row.subjectId ? html`<${Who} row=${row} names=${names} />` : 'The caller'}</b> wanted to <${Text} of=${verb} />${object && html` <b><${Text} of=${object} /></b>`}${at && html` at <b><${Text} of=${at} /></b>`}.</p>
  </div>`;
}

function Why({ row, place }) {
  const list = row.policyDecision?.deny_reasons ?? [];
  return html`${list.map((reason, at) => html`<${Reason} key=${reason.code + at} reason=${reason} at=${at + 1} of=${list.length} input=${row.policyInput} />`)}
    ${row.policyInput && row.policyDecision && html`<${AskedAgain} row=${row} />`}
    ${!row.policyInput && html`<p class="quiet">This row records no question to policy.</p>`}
    <${Way} row=${row} place=${place} />`;
}

const TABS = [['', 'Why'], ['question', 'Question'], ['answer', 'Answer'], ['request', 'Request']];

export function Decision({ id, place, choose }) {
  const from = useData(signal => get(`audit-logs/${encodeURIComponent(id)}`, { signal }), [id]);
  const tab = place.query.get('tab') ?? '';
  return html`<section class="panel" aria-label=${`Decision ${id}`}><${Of} from=${from} what="The decision cannot be read">${row => {
    const { policyInput, policyDecision, ...rest } = row;
    const like = { outcome: row.outcome, reason: codesOf(row)[0], endpoint: row.endpoint };
    return html`<${Verdict} row=${row} />
      <${Tabs} label="Parts of the decision" tabs=${TABS} chosen=${tab} choose=${choose} />
      <div class=${tab ? '' : 'in'}>
        ${tab === '' && html`<${Why} row=${row} place=${place} />`}
        ${tab === 'question' && html`<${Json} of=${policyInput ?? null} />`}
        ${tab === 'answer' && html`<${Json} of=${policyDecision ?? null} />`}
        ${tab === 'request' && html`<${Json} of=${rest} />`}
      </div>
      <div class="in acts">
        ${row.policyInput && html`<a class="button main" href=${to(['try'], { decision: row.id })}>Open in Try</a>`}
        <a class="button" href=${to(['decisions'], like)}>All like this</a>
        <${Copy} text=${location.href} label="Copy link" />
        <${Elsewhere} label="As curl" title="This decision, in a shell" text=${() => curl('GET', `audit-logs/${row.id}`)} />
        ${row.policyInput && html`<${Elsewhere} label="Ask again as curl" title="The question, asked of the active policy" text=${() => curl('POST', 'policy-rules/evaluate', { auditId: row.id })} />`}
        ${codesOf(row).includes('scope_not_entitled') && session() && html`<a class="button" href=${to(['clients', row.clientId], { tab: 'rights' })}>Entitle it…</a>`}
      </div>`;
  }}<//></section>`;
}
