// The refusal of a draft: what stays active, and each fault with a link to its line.
import { html, useLayoutEffect, useRef } from '../html.js';
import { to } from '../route.js';
import { Text } from '../text.js';
import { faultsOf } from './check.js';

export function Refusal({ error, active, go }) {
  const box = useRef();
  useLayoutEffect(() => box.current?.focus(), [error]);
  const faults = faultsOf(error);
  const stays = active ? ` Nothing was saved, and revision ${active.id} stays active.` : ' Nothing was saved.';
  const href = fault => (fault.path ? to(['rules', fault.path], { line: fault.line }) : to(['data', fault.dataKey]));
  const title = { bundle_not_activated: error.body?.overridable === undefined && !error.body?.errors?.some(one => /^there is no input/.test(one.message)) ? 'Refused: the draft does not compile.' : 'Refused.', impact_refused: 'Refused for its effect.', precondition_failed: 'Refused: another save came in between.' }[error.code] ?? (faults.length ? 'Refused: a row is not valid.' : error.status === 503 ? 'It could not be checked now.' : 'Refused.');
  return html`<div class="refused" role="alert" tabindex="-1" ref=${box}><b>${title}</b>${stays}
    ${faults.length
      ? html`<ul>${faults.map(fault => html`<li><a href=${href(fault)} onClick=${event => { if (go?.(fault)) event.preventDefault(); }}><${Text} of=${fault.path ? `${fault.path}, line ${fault.line}` : `${fault.dataKey}${fault.pointer}`} bare /></a>: <${Text} of=${fault.message} /></li>`)}</ul>`
      : html` <${Text} of=${error.message} />.`}
    ${error.requestId && html` <span class="small">${error.status} ${error.code} · request ${error.requestId}</span>`}</div>`;
}
