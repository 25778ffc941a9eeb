// Review draft: what changes, what this save changes, and the save.
import { get, request, useData, withQuery } from '../api.js';
import { body, count, discard, draft as stored, put, useDraft } from '../draft.js';
import { html, useEffect, useState } from '../html.js';
import { useKeys } from '../keys.js';
import { impactOf } from '../parts/check.js';
import { Diff, compare } from '../parts/diff.js';
import { Elsewhere } from '../parts/elsewhere.js';
import { Impact } from '../parts/impact.js';
import { Refusal } from '../parts/refusal.js';
import { ShadowIt } from '../parts/shadow.js';
import { Empty, Failed, MayNot, Of } from '../parts/states.js';
import { changed, go, to } from '../route.js';
import { may } from '../session.js';
import { curl, jsonText, number, plural } from '../text.js';

async function load(signal) {
  const [rules, data, latest] = await Promise.all([get('policy-rules', { signal }), get('policy-data', { signal }), get('bundle-audit/latest', { signal })]);
  return { rules: Object.fromEntries(rules.map(one => [one.path, one.content])), data: Object.fromEntries(data.map(one => [one.dataKey, pretty(one.payload)])), latest };
}

const pretty = value => JSON.stringify(typeof value === 'string' ? JSON.parse(value) : value, null, 2);

function Changes({ draft, data }) {
  const files = [
    ...Object.entries(draft.rules).map(([path, text]) => [path, data.rules[path] ?? '', text]), ...draft.deleteRules.map(path => [path, data.rules[path] ?? '', '']),
    ...Object.entries(draft.data).map(([key, text]) => [`data row ${key}`, data.data[key] ?? '', text]), ...draft.deleteData.map(key => [`data row ${key}`, data.data[key] ?? '', '']),
  ];
  return html`<section class="panel"><header><h2>What changes</h2></header>${files.map(([name, before, after]) => html`<${Diff} key=${name} name=${name} lines=${compare(before.replace(/\n$/, ''), after.replace(/\n$/, ''))} />`)}</section>`;
}

// The measurement starts by itself; the save never waits for it.
function useImpact(draft, days) {
  const [state, set] = useState({});
  const text = JSON.stringify(draft);
  useEffect(() => {
    if (!count(draft)) return undefined;
    const stop = new AbortController();
    set({ busy: true });
    let asked;
    try { asked = { ...body(draft), since: `${days * 24}h`, examples: 5 }; } catch (error) { set({ error }); return undefined; }
    impactOf(asked, { signal: stop.signal, tell: impact => !stop.signal.aborted && set({ busy: true, impact }) }).then(impact => set({ impact }), error => !stop.signal.aborted && set({ error }));
    return () => stop.abort();
  }, [text, days]);
  return state;
}

// next: the number that the service gives the next revision.
function Save({ next = '', impact, days, failed }) {
  const [message, setMessage] = useState('');
  const [limit, setLimit] = useState(true);
  const [busy, setBusy] = useState(0);
  const measured = impact?.state === 'done' && impact.newlyAllowed !== undefined;
  const save = async () => {
    if (busy) return;
    setBusy(1);
    const ticking = setInterval(() => setBusy(seconds => seconds + 1), 1000);
    try {
      const query = limit && measured ? { impact: `${days * 24}h`, maxNewlyAllowed: impact.newlyAllowed } : {};
      await request('POST', withQuery('policy-bundle/deploy', query), { body: { ...body(), mode: 'merge', message: message || undefined } });
      discard();
      const now = await get('bundle-audit/latest');
      go(to(['revisions', String(now.id)], { saved: 1 }));
    } catch (error) { failed(error); }
    clearInterval(ticking);
    setBusy(0);
  };
  useKeys({ 'Ctrl+Enter': save });
  return html`<section class="panel"><form class="in" onSubmit=${event => { event.preventDefault(); save(); }}>
    <div class="field"><label for="message">Why this change</label><input id="message" value=${message} maxlength="200" onInput=${event => setMessage(event.target.value)} autocomplete="off" /><p class="help">It stands in the history of revisions.</p></div>
    ${measured && html`<div class="field"><span class="check"><input type="checkbox" id="limit" checked=${limit} onChange=${event => setLimit(event.target.checked)} /><label for="limit">Refuse above ${number(impact.newlyAllowed)} newly allowed</label></span></div>`}
    <div class="acts"><button class="main" disabled=${busy > 0}>Save${next && ` as ${next}`}</button></div><p role="status" class="quiet">${busy > 1 && `Saving${next && ` ${next}`}, ${busy - 1} s: the service waits until every engine has it`}</p></form></section>`;
}

export default function Review({ place }) {
  const draft = useDraft();
  const from = useData(load, []);
  const [error, setError] = useState();
  const days = Number(place.query.get('days')) || 7;
  const measured = useImpact(draft, days);
  const refused = error ?? (measured.error?.status && measured.error.status !== 503 ? measured.error : undefined); // 503: it cannot be measured now
  const latest = from.data?.latest;
  const rebase = () => { const now = stored(); discard(); for (const kind of ['rules', 'data']) for (const [name, text] of Object.entries(now[kind])) put(kind, name, text, latest.revision); setError(); };
  if (!count(draft)) return html`<div class="head"><h1 tabindex="-1">Review draft</h1></div><section class="panel"><${Empty} title="The draft is empty.">Change a rule, a row or the rights of a client; the changes collect here and are saved together. <a href="#/rules">Rules</a><//></section>`;
  return html`<div class="head"><div><a class="back" href="#/rules">Rules</a><h1 tabindex="-1">Review draft</h1><p>${plural(count(draft), 'change')}${latest ? ` against revision ${latest.id}` : ''}. They become active together, or not at all.</p></div>
      <div class="acts"><${Elsewhere} label="As file" title="bundle.json" text=${() => jsonText(body(), 2)} note="authzctl policy deploy --file reads it." /><${Elsewhere} label="As curl" title="This save, in a shell" text=${() => curl('POST', 'policy-bundle/deploy', body())} />
        <button type="button" onClick=${() => { discard(); go('#/rules'); }}>Discard draft</button><a class="button" href="#/rules">Back to editing</a></div></div>
    <${MayNot} role="operator" />
    ${refused && html`<${Refusal} error=${refused} active=${latest} />`}
    ${refused?.code === 'precondition_failed' && html`<p><button type="button" onClick=${() => { from.again(); rebase(); }}>Put my changes on top of the active revision</button></p>`}
    ${measured.error && !measured.error.status && html`<${Failed} what="The draft is not valid" error=${measured.error} />`}
    <div class="cols half"><div><${Of} from=${from} what="The active revision cannot be read">${data => html`<${Changes} draft=${draft} data=${data} />`}<//></div>
      <div class="effect"><section class="panel"><header><h2>What this save changes</h2>
          <span class="pick end" role="group" aria-label="Period">${[[1, '24 hours'], [7, '7 days'], [30, '30 days']].map(([value, label]) => html`<a href=${changed(place, { days: value })} aria-current=${value === days ? 'true' : undefined}>${label}</a>`)}</span></header>
          <${Impact} state=${measured} days=${days} /></section>
        ${may('operator') && html`<${Save} next=${latest?.nextId} impact=${measured.impact} days=${days} failed=${fault => { setError(fault); from.again(); }} /><${ShadowIt} />`}</div></div>`;
}
