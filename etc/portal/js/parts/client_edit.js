// The settings of a client: a form that keeps the members it does not show, marks what changed, and shows both versions when another
// save came in between.
import { get, request } from '../api.js';
import { html, useLayoutEffect, useRef, useState } from '../html.js';
import { may } from '../session.js';
import { Text, shell } from '../text.js';
import { FIELDS } from './client_new.js';
import { Field, idOf } from './fields.js';
import { Same, fileName } from './same.js';
import { MayNot, Refused } from './states.js';

const MORE = [
  { name: 'postLogoutRedirectUris', label: 'Addresses after the sign-out', kind: 'list', help: 'One a line.' },
  { name: 'jwksUri', label: 'Address of its keys', help: 'For private_key_jwt and signed requests.' },
  { name: 'pkceRequired', label: 'PKCE is required', kind: 'check' }, { name: 'dpopBoundAccessTokens', label: 'Every token is bound to a key (DPoP)', kind: 'check' },
];
const SHOWN = [...FIELDS.filter(field => !['clientId', 'clientType'].includes(field.name)), ...MORE];
const same = (a, b) => JSON.stringify(a ?? '') === JSON.stringify(b ?? '');
const words = value => (value === undefined || value === null || value === '' ? 'none' : Array.isArray(value) ? value.join(' ') : String(value));

// What another save changed, beside what is typed here.
function Both({ base, theirs, mine, take }) {
  const rows = SHOWN.filter(({ name }) => !same(base[name], theirs[name]) || !same(base[name], mine[name]));
  const box = useRef();
  useLayoutEffect(() => box.current.focus(), []);
  return html`<div class="refused" role="alert" tabindex="-1" ref=${box}><b>Another save changed this client. Yours is kept here.</b>
    <table aria-label="Both versions"><thead><tr><th scope="col">Field</th><th scope="col">Stored now</th><th scope="col">Yours</th></tr></thead>
      <tbody>${rows.map(({ name, label }) => html`<tr><td>${label}</td><td><${Text} of=${words(theirs[name])} /></td><td><${Text} of=${words(mine[name])} /></td></tr>`)}</tbody></table>
    <button type="button" onClick=${take}>Take what is stored, keep my changes</button></div>`;
}

export function EditClient({ client, etag, fileOf, saved }) {
  const [base, setBase] = useState({ client, etag });
  const [form, set] = useState(client);
  const [error, setError] = useState();
  const [theirs, setTheirs] = useState();
  const [busy, setBusy] = useState(false);
  const path = `clients/${encodeURIComponent(client.clientId)}`;
  const changes = Object.fromEntries(SHOWN.filter(({ name }) => !same(base.client[name], form[name])).map(({ name }) => [name, form[name] === '' ? null : form[name]]));
  const count = Object.keys(changes).length;
  const body = { ...fileOf(base.client), ...changes };
  const submit = async event => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      await request('PUT', path, { body, headers: base.etag ? { 'If-Match': base.etag } : {} });
      setError();
      saved();
    } catch (fault) {
      if (fault.status === 412) setTheirs(await get(path));
      else setError(fault);
    }
    setBusy(false);
  };
  const take = async () => {
    const now = await request('GET', path);
    setBase({ client: now.data, etag: now.headers.get('ETag') });
    set({ ...now.data, ...changes });
    setTheirs();
  };
  const { clientId: _, ...inFile } = body;
  return html`<div class="cols wide"><div><${MayNot} role="operator" />${error && html`<${Refused} error=${error} fieldId=${name => idOf(name.replace(/\[.*/, ''))} />`}
    ${theirs && html`<${Both} base=${base.client} theirs=${theirs} mine=${form} take=${take} />`}
    <form class="panel" onSubmit=${submit} noValidate><div class="in">
      ${SHOWN.map(field => html`<${Field} ...${field} label=${field.name in changes ? `${field.label} (changed)` : field.label} value=${form[field.name]} set=${value => set(old => ({ ...old, [field.name]: value }))} error=${error} readOnly=${!may('operator')} />`)}
      <div class="acts">${may('operator') && html`<button class="main" disabled=${busy || !count}>Save ${count || ''} ${count === 1 ? 'change' : 'changes'}</button>`}</div></div></form></div>
    <div><${Same} file=${{ path: `clients/${fileName(client.clientId)}.json`, value: inFile }} authzctl="authzctl client update" of=${client.clientId} method="PUT" path=${path} body=${body} headers=${base.etag ? { 'If-Match': base.etag } : {}} /></div></div>`;
}
