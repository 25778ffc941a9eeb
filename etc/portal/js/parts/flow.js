// What happened, in words: an audit row as a sentence, and the way of a flow.
import { withQuery, get, useData } from '../api.js';
import { html } from '../html.js';
import { changed } from '../route.js';
import { Text } from '../text.js';
import { clock, When } from '../time.js';

const KIND = { allowed: 'off', denied: 'no', rejected: 'off', error: 'warn' };

// The outcome with its mark. "allowed" stays in the colour of text.
export const Outcome = ({ of }) => html`<span class=${`state ${of === 'allowed' ? 'ok' : KIND[of] ?? 'off'}`}>${of}</span>`;

const TITLES = {
  '/token': 'get a token for', '/introspect': 'introspect a token with', '/authorize': 'sign in', '/revoke': 'revoke a token', '/userinfo': 'read the claims of a person',
  '/register': 'register itself', '/access/v1/evaluation': 'ask for a decision', '/access/v1/evaluations': 'ask for decisions', '/permission': 'ask for a permission ticket',
};

// "updateClient" as "update client".
export const words = operation => operation.replace(/([A-Z])/g, letter => ` ${letter.toLowerCase()}`);

// Return [verb, object, at]: "call", "refund_order", "orders".
export function asked(row) {
  const summary = row.requestSummary ?? {};
  if (summary.tool || summary.resource) return [summary.tool ? 'call' : 'use', summary.tool ?? summary.resource, summary.tool ? summary.resource : ''];
  if (row.endpoint?.startsWith('/admin')) return [summary.operation ? words(summary.operation) : `${row.method} ${row.endpoint}`, summary.clientId ?? summary.dataKey ?? summary.rulePath ?? summary.path ?? summary.name ?? summary.idpId ?? '', ''];
  const verb = TITLES[row.endpoint] ?? (summary.operation ? words(summary.operation) : `${row.method ?? ''} ${row.endpoint}`);
  return summary.scope ? [verb, summary.scope, ''] : [verb.replace(/ (for|with)$/, ''), '', ''];
}

export function Asked({ row }) {
  const [verb, object, at] = asked(row);
  return html`<${Text} of=${[verb, at ? `${at} / ${object}` : object].filter(Boolean).join(' ')} bare />`;
}

// What a row is about: a managed resource, what an access request names, or what a token was asked for.
export function resourceOf(row) {
  const { resource, resourceType, resourceId } = row.requestSummary ?? {};
  return resource ?? [resourceType, resourceId].filter(Boolean).join(' ');
}

// Why a row is not allowed: the codes of its reasons, or the error that its caller was told.
export const whyOf = row => (row.outcome === 'allowed' ? '' : codesOf(row).join(', ') || [row.requestSummary?.error, row.requestSummary?.reason].filter(Boolean).join(': '));

// The codes of a summary are separated by spaces; a space within one is %20, and a percent sign %25.
const spelled = word => word.replaceAll('%20', ' ').replaceAll('%25', '%');
export const codesOf = row => (row.policyDecision?.deny_reasons?.map(reason => reason.code) ?? row.requestSummary?.denyCodes?.split(' ').map(spelled) ?? []).filter(Boolean);

// The rows of the flow, oldest first, with this one marked.
export function Way({ row, place }) {
  const from = useData(signal => (row.flowId ? get(withQuery('audit-logs/search', { flowId: row.flowId, view: 'summary', size: 50 }), { signal }) : { content: [row] }), [row.id]);
  const rows = [...(from.data?.content ?? [row])].sort((a, b) => a.id - b.id);
  return html`<h3>The way here${row.flowId && html` <span class="quiet">· flow</span> <a href=${changed(place, { flowId: row.flowId, open: undefined, after: undefined })}><code>${row.flowId.slice(0, 4)}…${row.flowId.slice(-4)}</code></a>`}</h3>
    <ol class="way">${rows.map(one => html`<li class=${one.outcome === 'denied' ? 'no' : ''} aria-current=${one.id === row.id ? 'true' : undefined}>
      <span><${When} at=${one.createdAt} form=${clock} /></span>
      <span>${one.id === row.id ? html`<${Asked} row=${one} />` : html`<a href=${changed(place, { open: one.id })}><${Asked} row=${one} /></a>`} ${one.outcome}</span></li>`)}
      ${row.requestSummary?.status && html`<li><span><${When} at=${row.createdAt} form=${clock} /></span><span>The caller was told ${row.requestSummary.status}${row.requestSummary.error && html` <code><${Text} of=${row.requestSummary.error} /></code>`}${row.requestSummary.reason && html`: <${Text} of=${row.requestSummary.reason} />`}</span></li>`}
    </ol>`;
}
