// Names of clients and people beside their ids. Two requests bring those of the clients and the people that were there last; a row
// about another one has the id.
import { get } from '../api.js';
import { html, useEffect, useState } from '../html.js';
import { to } from '../route.js';
import { Text, brief } from '../text.js';

const MOST = 200, KEPT_MS = 60000;
let held, until = 0;

const table = (rows, id) => new Map(rows.filter(one => one.name).map(one => [one[id], one.name]));

async function load() {
  const [clients, people] = await Promise.all([get(`clients?sort=-lastUsedAt&size=${MOST}`), get(`subjects?size=${MOST}`)]);
  return { client: table(clients.map(one => ({ ...one, name: one.clientName })), 'clientId'), person: table(people.map(one => ({ ...one, name: one.name || one.email })), 'subjectId') };
}

const NONE = { client: new Map(), person: new Map() };

// Return the maps from ids to names; empty ones until they are there, or if they cannot be read.
export function useNames() {
  const [names, set] = useState(NONE);
  useEffect(() => {
    if (Date.now() > until) { held = load().catch(() => NONE); until = Date.now() + KEPT_MS; }
    let here = true;
    held.then(found => here && set(found));
    return () => { here = false; };
  }, []);
  return names;
}

// The name of a client or a person, with the id as its title; the id if no name is known.
export function Name({ kind, of }) {
  const names = useNames();
  return html`<span title=${brief(of)}><${Text} of=${names[kind].get(of) ?? of} bare /></span>`;
}

// Who asked: "Shop · Mira Halden", each with the id as its title and its page behind it; bare: without links.
export function Who({ row, names, bare }) {
  const one = (kind, page, id) => (bare ? html`<span title=${brief(id)}><${Text} of=${names[kind].get(id) ?? id} bare /></span>` : html`<a href=${to([page, id])} title=${brief(id)}><${Text} of=${names[kind].get(id) ?? id} bare /></a>`);
  const person = row.subjectId && row.subjectId !== row.clientId;
  return html`${row.clientId && one('client', 'clients', row.clientId)}${row.clientId && person && ' · '}${person && one('person', 'people', row.subjectId)}`;
}

const BROWSERS = [['Edge', /\bEdg(?:e|A|iOS)?\/(\d+)/], ['Opera', /\bOPR\/(\d+)/], ['Samsung Internet', /\bSamsungBrowser\/(\d+)/], ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/], ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\/(\d+)/], ['Safari', /\bVersion\/(\d+)[.\d]* .*Safari/]];
const SYSTEMS = [['Android', /Android/], ['iOS', /iPhone|iPad/], ['Windows', /Windows/], ['macOS', /Macintosh|Mac OS X/], ['ChromeOS', /CrOS/], ['Linux', /Linux|X11/]];

// Return "Firefox 128 on Windows" of a User-Agent; of a program its first word.
export function agent(text) {
  if (!text) return '';
  const found = BROWSERS.find(([, sign]) => sign.test(text)), system = SYSTEMS.find(([, sign]) => sign.test(text))?.[0];
  return found ? `${found[0]} ${found[1].exec(text)[1]}${system ? ` on ${system}` : ''}` : text.split(/[\s(]/)[0];
}
