// Prompts and instructions of an MCP server: texts that models read, each approved like a tool.
import { get, request, useData } from '../api.js';
import { html, useState } from '../html.js';
import { may } from '../session.js';
import { Text, brief } from '../text.js';
import { When } from '../time.js';
import { Confirm } from './confirm.js';
import { Empty, Of } from './states.js';
import { Table } from './table.js';

const PIN = { approved: 'ok', new: 'warn', changed: 'warn', missing: 'off' };
const waits = row => ['new', 'changed'].includes(row.status);
const State = ({ of }) => html`<span class=${`state ${PIN[of] ?? 'off'}`}>${of}</span>`;

// What the upstream has, or undefined where the resource does not read it.
const read = path => signal => get(path, { signal }).catch(fault => { if (fault.status === 404 || fault.status === 409) return undefined; throw fault; });

export function Texts({ path, resource }) {
  const prompts = useData(read(`${path}/prompts`), [path]), said = useData(read(`${path}/instructions`), [path]);
  const [asks, ask] = useState();
  const approve = async () => {
    const at = asks.name ? `prompts/${encodeURIComponent(asks.name)}` : 'instructions';
    await request('POST', `${path}/${at}/approve`, { body: { sha256: asks.sha256 } });
    (asks.name ? prompts : said).again();
  };
  const button = row => waits(row) && may('operator') && html`<button type="button" class="danger" aria-label=${`Approve ${brief(row.name ?? 'the instructions')}`} onClick=${() => ask(row)}>Approve…</button>`;
  const columns = [
    { title: 'Prompt', cell: row => html`<span class="strong"><${Text} of=${row.title ?? row.name} /></span><span class="second"><code><${Text} of=${row.name} /></code></span>` },
    { title: 'State', cell: row => html`<${State} of=${row.status} />` }, { title: 'Text', cell: row => html`<${Text} of=${row.description ?? ''} />` },
    { title: 'Arguments', cell: row => (row.arguments ?? []).map(one => html`<span class="chip"><${Text} of=${one.name} /></span>`) }, { title: 'Read', cell: row => html`<${When} at=${row.seenAt} />` },
    ...(may('operator') ? [{ title: 'Approval', hidden: true, cell: button }] : []),
  ];
  return html`<section class="panel"><header><h2>Prompts</h2></header><${Of} from=${prompts} what="The prompts cannot be read">${rows => (rows?.length ? html`<${Table} label="Prompts" columns=${columns} rows=${rows} key=${row => row.name} />`
      : html`<${Empty} title="No prompt.">${resource.mcpPrompts === 'pinned' ? 'The server had none when its tools were read.' : html`They are read where <code>mcpPrompts</code> is pinned.`}<//>`)}<//></section>
    <section class="panel"><header><h2>Instructions</h2>${said.data && html`<${State} of=${said.data.status} /><span class="end">${button(said.data)}</span>`}</header><${Of} from=${said} what="The instructions cannot be read">${one => (one ? html`<div class="in"><p class="prose"><${Text} of=${one.instructions} whole /></p><p class="small">read <${When} at=${one.seenAt} />; hosts put this into the prompt of each model</p></div>`
      : html`<${Empty} title="No instructions.">${resource.mcpInstructions === 'pinned' ? 'The server gave none when its tools were read.' : html`They are read where <code>mcpInstructions</code> is pinned.`}<//>`)}<//></section>
    ${asks && html`<${Confirm} title=${asks.name ? `Approve the prompt ${asks.name}?` : 'Approve these instructions?'} type=${asks.name} verb="Approve this text" act=${approve} close=${() => ask()}><p>Models read this text from now on, where policy allows it.</p><//>`}`;
}
