// What a save changes: the questions of a period, asked of the active policy and of the draft.
import { html, useState } from '../html.js';
import { to } from '../route.js';
import { Text, number, plural } from '../text.js';
import { Outcome } from './flow.js';
import { Table, Tabs } from './table.js';

const WORD = { allow: 'allowed', deny: 'denied' };
const outcome = answer => html`<${Outcome} of=${WORD[answer?.outcome] ?? answer?.outcome ?? 'not known'} />${answer?.reasons?.length ? html`<span class="second"><${Text} of=${answer.reasons.join(', ')} /></span>` : ''}`;
const KINDS = ['newlyAllowed', 'newlyDenied', 'widened', 'narrowed', 'other', 'failing'];

// The kinds take turns, so that one of each stands first.
function examplesOf(impact) {
  const lists = KINDS.map(kind => impact.examples?.[kind] ?? []);
  const most = Math.max(0, ...lists.map(list => list.length));
  return Array.from({ length: most }, (_, at) => lists.map(list => list[at]).filter(Boolean)).flat();
}

const EXAMPLE = [
  { title: 'Decision', cell: row => html`<a href=${to(['decisions'], { open: row.auditId })}>${number(row.auditId)}</a>` },
  { title: 'Active', cell: row => outcome(row.before) }, { title: 'Draft', cell: row => outcome(row.after) },
  { title: 'Client', cell: row => html`<${Text} of=${row.clientId ?? ''} />` }, { title: 'Person', cell: row => html`<${Text} of=${row.subjectId === row.clientId ? 'itself' : row.subjectId ?? ''} />` },
];
const count = (title, name) => ({ title, num: true, cell: row => number(row[name] ?? 0) });
const CLIENT = [{ title: 'Client', cell: row => html`<a href=${to(['decisions'], { clientId: row.clientId })}><${Text} of=${row.clientId} bare /></a>` }, count('Newly denied', 'newlyDenied'), count('Newly allowed', 'newlyAllowed'), count('Other', 'other')];
const REASON = [{ title: 'Reason', cell: row => html`<code><${Text} of=${row.code} /></code>` }, count('Added', 'added'), count('Removed', 'removed')];
const ENDPOINT = [{ title: 'Entry point', cell: row => html`<code><${Text} of=${row.endpoint} /></code>` }, count('Newly denied', 'newlyDenied'), count('Newly allowed', 'newlyAllowed'), count('Other', 'other')];

function Figure({ label, value, kind, note }) {
  return html`<div><span class="label">${kind && value > 0 ? html`<span class=${`state ${kind}`}>${label}</span>` : label}</span><span class="big">${number(value)}</span><span class="small">${note}</span></div>`;
}

// A sample does not say that there is none: it says how many there are at most.
const bounds = (impact, name) => {
  const found = impact.estimates?.[name], seen = name === 'notKnown' ? unknownOf(impact) : impact[name];
  if (!found) return undefined;
  return seen ? `in a sample; about ${number(found.estimate)}, at most ${number(found.upper)} of all` : `None of ${number(impact.looked)}; at most ${number(found.upper)} of ${number(allOf(impact))}`;
};
const unknownOf = impact => (impact.notKnown ?? []).reduce((sum, one) => sum + one.count, 0);
const allOf = impact => (impact.sampled ? Math.round(impact.looked / impact.sampled.taken * impact.sampled.selected) : impact.looked);

// A sentence for the part of the effect that surprises most.
function sentence(impact, days) {
  const period = `of the last ${days === 1 ? '24 hours' : `${days} days`}`;
  if (impact.sampled && impact.asked && !KINDS.some(kind => impact[kind])) return `No answer of the ${number(impact.looked)} in the sample would change.`;
  if (!impact.asked && !impact.unreached) return `No question ${period} could be asked again, so nothing is known of the effect.`;
  if (impact.newlyAllowed) return `${plural(impact.newlyAllowed, 'request')} that the active policy denies would be allowed.`;
  if (impact.newlyDenied) return `${plural(impact.newlyDenied, 'request')} ${period} would be denied.`;
  const rest = (impact.widened ?? 0) + (impact.narrowed ?? 0) + (impact.other ?? 0);
  return rest ? `No outcome changes; ${plural(rest, 'answer')} would be another one.` : `No answer ${period} would change.`;
}

// What a guard refuses, and which one was not measured; a save measures each.
function guardLines(impact) {
  return (impact.guards ?? []).flatMap(guard => guard.why
    ? [`Guard ${guard.name} was not measured: ${guard.why}.`]
    : guard.notMeasured ? [`Guard ${guard.name} was not measured: it takes no sample.`]
      : (guard.refused ?? []).map(one => `Guard ${guard.name} refuses: ${one.limit} ${number(one.estimate ?? one.seen)}, at most ${one.max}.`));
}

export function Impact({ state: { busy, impact, error }, days }) {
  const [tab, choose] = useState('examples');
  if (error?.status === 503) return html`<div class="in"><p class="strong">The effect is not known.</p><p class="quiet"><${Text} of=${error.message} />. A save is possible; the service refuses it if the draft does not compile.</p></div>`;
  if (error) return html`<div class="in quiet">Nothing was asked: ${error.status ? 'the draft is refused.' : error.message}</div>`;
  if (busy || !impact) return html`<div class="in" role="status"><p class="quiet">${impact?.progress ? `Asked ${number(impact.progress.done)} of at most ${number(impact.progress.of)}` : 'Asking the questions of the period again'}. Save does not wait for it.</p></div>`;
  const unknown = unknownOf(impact);
  const lists = { examples: [EXAMPLE, examplesOf(impact)], client: [CLIENT, impact.byClient ?? []], reason: [REASON, impact.byReason ?? []], endpoint: [ENDPOINT, impact.byEndpoint ?? []] };
  const [columns, rows] = lists[tab];
  return html`<div class="figures">
      <${Figure} label="Asked again" value=${impact.asked} note=${impact.truncated ? 'not all: the time was over' : impact.sampled ? `a sample of ${number(allOf(impact))}` : 'all of the period'} />
      <${Figure} label="Newly denied" value=${impact.newlyDenied} kind="no" note=${bounds(impact, 'newlyDenied') ?? (impact.newlyDenied ? plural(impact.clients ?? 0, 'client') : 'no client')} />
      <${Figure} label="Newly allowed" value=${impact.newlyAllowed} kind="warn" note=${bounds(impact, 'newlyAllowed') ?? (impact.newlyAllowed ? plural(impact.people ?? 0, 'person', 'people') : 'no client')} />
      <${Figure} label="Not known" value=${unknown} kind="warn" note=${bounds(impact, 'notKnown') ?? (unknown ? impact.notKnown.map(one => one.why ?? one.reason).join(', ') : 'every question could be asked')} /></div>
    <div class="in"><p class="strong">${sentence(impact, days)}</p>${unknown > 0 && html`<p class="quiet">Values of arguments are not stored while argument_mode of svc.operator.controls.audit is keys, so rules about them cannot be judged.</p>`}${(impact.blind ?? []).map(one => html`<p class="quiet">Not measured: <code><${Text} of=${one.what} /></code>, on which ${plural(one.rows, 'decision')} may depend.</p>`)}
      ${guardLines(impact).map(line => html`<p class="strong" key=${line}><${Text} of=${line} /></p>`)}</div>
    <${Tabs} label="Parts of the effect" chosen=${tab} choose=${choose} tabs=${[['examples', 'Examples'], ['client', `By client ${impact.byClient?.length ?? 0}`], ['reason', `By reason ${impact.byReason?.length ?? 0}`], ['endpoint', `By entry point ${impact.byEndpoint?.length ?? 0}`]]} />
    ${rows.length ? html`<${Table} label="Effect" columns=${columns} rows=${rows} />` : html`<p class="in quiet">None.</p>`}`;
}
