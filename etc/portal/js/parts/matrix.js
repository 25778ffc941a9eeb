// Ten recorded questions, as they were answered then, and asked again of the active policy and of the draft.
import { get, request, useData, withQuery } from '../api.js';
import { body, count, useDraft } from '../draft.js';
import { html, useState } from '../html.js';
import { to } from '../route.js';
import { Text, number } from '../text.js';
import { When } from '../time.js';
import { Asked, Outcome } from './flow.js';
import { Refusal } from './refusal.js';
import { Empty, Of } from './states.js';
import { Table } from './table.js';

const MOST = 10;

// The members of the draft that an evaluation takes.
export function changesOf(draft) {
  const { rules, data, deleteRules, deleteData } = body(draft);
  return { rules, data, ...(deleteRules ? { deleteRules } : {}), ...(deleteData ? { deleteData } : {}) };
}

export const again = (id, more, signal) => request('POST', 'policy-rules/evaluate', { body: { auditId: id, ...more }, signal }).then(({ data }) => data);

// An answer in a cell: the outcome, and the codes of its reasons.
export function Cell({ of }) {
  if (!of) return html`<span class="quiet">–</span>`;
  if (of.error) return html`<span class="state warn"><${Text} of=${of.error.message} /></span>`;
  const answer = of.answer;
  const codes = answer?.deny_reasons?.map(reason => reason.code) ?? [];
  if (of.unknown) return html`<span class="state off">not known</span><span class="second">${of.unknown}</span>`;
  return html`${answer?.allow === undefined ? html`<span class="state off">no decision</span>` : html`<${Outcome} of=${answer.allow ? 'allowed' : 'denied'} />`}${codes.length > 0 && html`<span class="second"><${Text} of=${codes.join(', ')} /></span>`}`;
}

export const cellOf = data => (data.comparable === false ? { unknown: 'arguments were not stored' } : { answer: data.after });

async function load(outcome, signal) {
  const { content } = await get(withQuery('audit-logs/search', { size: 50, outcome }), { signal });
  return content.filter(row => row.policyInput && row.policyDecision).slice(0, MOST);
}

export function Matrix({ place }) {
  const draft = useDraft(), changes = count(draft) > 0;
  const outcome = place.query.get('outcome') ?? '';
  const from = useData(signal => load(outcome || undefined, signal), [outcome]);
  const [found, set] = useState({});
  const [busy, setBusy] = useState(false);
  const [refused, refuse] = useState();
  const ask = async rows => {
    setBusy(true);
    set({});
    refuse();
    let asked;
    try { asked = changes ? changesOf(draft) : undefined; } catch (error) { refuse(error); setBusy(false); return; }
    for (const row of rows) {
      for (const [name, more] of [['active', {}], ...(asked ? [['draft', { changes: asked }]] : [])]) {
        let cell;
        try { cell = cellOf(await again(row.id, more)); } catch (error) {
          if (name === 'draft' && error.status === 422) { refuse(error); asked = undefined; break; } // it does not compile: ask no other one
          cell = { error };
        }
        set(old => ({ ...old, [row.id]: { ...old[row.id], [name]: cell } }));
      }
    }
    setBusy(false);
  };
  const columns = [
    { title: 'Question', cell: row => html`<a class="strong" href=${to(['decisions'], { open: row.id })}><${Asked} row=${row} /></a><span class="second"><${Text} of=${row.clientId ?? ''} /> · <${When} at=${row.createdAt} /> · ${number(row.id)}</span>` },
    { title: 'Then', cell: row => html`<${Cell} of=${{ answer: row.policyDecision }} />` },
    { title: 'Active', cell: row => html`<${Cell} of=${found[row.id]?.active} />` },
    { title: 'Draft', cell: row => (changes ? html`<${Cell} of=${found[row.id]?.draft} />` : html`<span class="quiet">no draft</span>`) },
  ];
  return html`<section class="panel" aria-label="Recorded questions"><header><h2>Recorded questions</h2><span class="small">the newest ${MOST}, asked again; nothing is issued</span></header>
    ${refused && html`<div class="in">${refused.status ? html`<${Refusal} error=${refused} />` : html`<p class="refused" role="alert"><${Text} of=${refused.message} /></p>`}</div>`}
    <${Of} from=${from} what="The decisions cannot be read">${rows => (rows.length
      ? html`<${Table} label="Recorded questions" columns=${columns} rows=${rows} key=${row => row.id} /><footer class="between"><span>${rows.length} of the newest decisions</span><span class="acts"><button type="button" class="main" disabled=${busy} onClick=${() => ask(rows)}>Ask them again</button></span></footer>`
      : html`<${Empty} title="No question is recorded.">Each decision of policy leaves its question here.<//>`)}<//></section>`;
}
