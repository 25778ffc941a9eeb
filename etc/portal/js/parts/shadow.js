// The shadow of the policy: a change that decides nothing, while live decisions are compared with what it would decide.
import { request, useData } from '../api.js';
import { body } from '../draft.js';
import { html, useState } from '../html.js';
import { go, to } from '../route.js';
import { may } from '../session.js';
import { Text, number, plural } from '../text.js';
import { When } from '../time.js';
import { Confirm } from './confirm.js';
import { Failed, Of } from './states.js';

const STATE = { active: 'ok', stale: 'warn' };

async function load(signal) {
  try {
    const { data, headers } = await request('GET', 'policy-shadow', { signal });
    return { shadow: data, etag: headers.get('ETag') };
  } catch (fault) {
    if (fault.status === 404) return {};
    throw fault;
  }
}

function Counts({ of }) {
  if (!of?.looked) return html`<p class="in quiet">No decision was compared yet.</p>`;
  return html`<div class="figures">${[['Compared', of.looked, ''], ['Newly denied', of.newlyDenied, 'no'], ['Newly allowed', of.newlyAllowed, 'warn'], ['Other answers', (of.widened ?? 0) + (of.narrowed ?? 0) + (of.other ?? 0), '']].map(([label, value, kind]) => html`<div><span class="label">${kind && value > 0 ? html`<span class=${`state ${kind}`}>${label}</span>` : label}</span><span class="big">${number(value ?? 0)}</span></div>`)}</div>`;
}

// The shadow of now, or the last one; nothing where there was none.
export function Shadow() {
  const from = useData(load, []);
  const [asks, ask] = useState();
  const drop = async () => { await request('DELETE', 'policy-shadow'); from.again(); };
  const promote = async () => {
    await request('POST', 'policy-shadow/promote', { headers: { 'If-Match': from.data.etag } });
    const { data } = await request('GET', 'bundle-audit/latest');
    go(to(['revisions', String(data.id)], { saved: 1 }));
  };
  if (from.data && !from.data.shadow) return null;
  return html`<section class="panel"><header><h2>Shadow</h2><${Of} from=${from} what="The shadow cannot be read">${({ shadow }) => html`<span class=${`state ${STATE[shadow.state] ?? 'off'}`}>${shadow.state}</span>`}<//></header>
    ${from.data && html`<div class="in"><p><${Text} of=${from.data.shadow.message || plural((from.data.shadow.change?.rules?.length ?? 0) + (from.data.shadow.change?.data?.length ?? 0), 'changed file')} /> <span class="quiet">by <${Text} of=${from.data.shadow.by} />, <${When} at=${from.data.shadow.createdAt} />; ${from.data.shadow.endedAt ? 'ended' : 'until'} <${When} at=${from.data.shadow.endedAt ?? from.data.shadow.until} />; one decision in ${number(from.data.shadow.rate)} is compared</span></p>
        ${from.data.shadow.note && html`<p><${Text} of=${from.data.shadow.note} /></p>`}</div><${Counts} of=${from.data.shadow.result} />
      ${may('operator') && STATE[from.data.shadow.state] && html`<footer><span class="acts">${from.data.shadow.state === 'active' && html`<button type="button" onClick=${() => ask('promote')}>Promote…</button>`}<button type="button" onClick=${() => ask('drop')}>Drop…</button></span></footer>`}`}
    ${asks === 'promote' && html`<${Confirm} title="Make the shadow the policy?" verb="Promote it" act=${promote} close=${() => ask()}><p>Its change is saved as a revision, if the revision that it was compared with is still active.</p><//>`}
    ${asks === 'drop' && html`<${Confirm} title="Drop the shadow?" verb="Drop it" act=${drop} close=${() => ask()}><p>Nothing is compared with it from then on. Its result stays until there is another.</p><//>`}</section><p></p>`;
}

// In place of a save: compare live decisions with the draft first.
export function ShadowIt() {
  const [state, set] = useState({});
  const act = async () => {
    set({ busy: true });
    const { ifRevision: _, ...change } = body();
    try { await request('PUT', 'policy-shadow', { body: change }); go('#/revisions'); } catch (error) { set({ error }); }
  };
  return html`<section class="panel"><header><h2>Watch it first</h2></header><div class="in"><p class="quiet">As a shadow the draft decides nothing; live decisions of the next 14 days are compared with it, at Revisions.</p>
    <button type="button" disabled=${state.busy} onClick=${act}>Run as a shadow</button></div>${state.error && html`<${Failed} what="It is no shadow" error=${state.error} />`}</section>`;
}
