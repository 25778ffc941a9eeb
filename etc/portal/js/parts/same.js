// The same elsewhere: what a form sends, as a file in git, as authzctl, as curl and as JSON. Secrets are names of variables.
import { html, useState } from '../html.js';
import { curl, jsonText, quoteJson, shell } from '../text.js';
import { Copy } from './elsewhere.js';
import { Tabs } from './table.js';
import { Json } from './tree.js';

// Between two of these stands the name of a variable; a text of others cannot have it.
const MARK = crypto.randomUUID();
const variable = path => path.split('.').at(-1).replace(/([a-z])([A-Z])/g, '$1_$2').toUpperCase();

// Return the name that export gives the file of a key: octets beside letters, digits, . _ and - are %XX, and so is a dot in front.
export const fileName = key => [...new TextEncoder().encode(key)].map((octet, at) => {
  const one = String.fromCharCode(octet);
  return /[\w.-]/.test(one) && !(at === 0 && one === '.') ? one : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
}).join('');

// Return a copy in which each typed secret (a path of secrets) is what form makes of the name of its variable.
export function masked(value, secrets, form, inFile = false) {
  const copy = structuredClone(value);
  for (const path of secrets) {
    const parts = path.split('.'), last = parts.pop();
    const holder = parts.reduce((at, part) => at?.[part], copy);
    if (typeof holder?.[last] === 'string') holder[last] = form(variable(path));
    else if (inFile && holder?.[last]?.set) delete holder[last]; // a file that does not name the stored secret keeps it
  }
  return copy;
}

// Return the body as words of a shell that puts the secrets in.
export const shellBody = (body, secrets) => quoteJson(masked(body, secrets, name => `${MARK}${name}${MARK}`), MARK);

// Return the words of authzctl with its operand and --file. One that begins with - would be an option.
const words = (authzctl, of) => (of?.startsWith('-') ? `${authzctl} --file - -- ${shell(of)}` : `${authzctl}${of === undefined ? '' : ` ${shell(of)}`} --file -`);

// file: {path, value}; authzctl: the words before --file, of: their operand; method, path, body, headers: the request that Save sends.
export function Same({ file, authzctl, of, method, path, body, headers, secrets = [], heading = 'The same elsewhere' }) {
  const [tab, choose] = useState('file');
  const stored = masked(file.value, secrets, name => ({ env: name }), true);
  const commands = {
    authzctl: () => `printf %s ${shellBody(body, secrets)} |\n  ${words(authzctl, of)}`,
    curl: () => curl(method, path, body, { headers, words: shellBody(body, secrets) }),
  };
  const shown = masked(body, secrets, name => `$${name}`);
  const text = commands[tab]?.() ?? jsonText(tab === 'file' ? stored : shown, 2);
  return html`<section class="panel same" aria-label=${heading}><header><h2>${heading}</h2></header>
    <${Tabs} label=${heading} chosen=${tab} choose=${choose} tabs=${[['file', 'File in git'], ['authzctl', 'authzctl'], ['curl', 'curl'], ['json', 'JSON']]} />
    ${commands[tab] ? html`<pre class="cmd" tabindex="0">${text}</pre>` : html`<${Json} of=${text} />`}
    <footer><span>${tab === 'file' ? html`<code>${file.path}</code> · secrets are never in files` : secrets.length ? 'secrets are variables of the shell' : ''}</span><span><${Copy} text=${text} /></span></footer></section>`;
}
