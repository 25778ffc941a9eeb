// The form of a managed resource: upstream, credential, routes, and the rest.
import { useData } from '../api.js';
import { html } from '../html.js';
import { go, to } from '../route.js';
import { ObjectForm, schemaOf } from './object_form.js';
import { Of } from './states.js';

// Tools of an MCP upstream come from a sync, and stay when a save leaves them out.
const KIND = { path: 'managed-resources', key: 'name', folder: 'resources', authzctl: 'resource', noun: 'resource' };
const FIRST = ['name', 'displayName', 'upstreamType', 'upstreamUrl', 'defaultScope', 'enabled', 'upstreamAuth', 'routes'];
const TITLES = {
  name: 'Name in addresses', displayName: 'Name', upstreamType: 'Type', upstreamUrl: 'Address of the upstream', defaultScope: 'Scope of routes and tools that name none', enabled: 'The gateway serves it',
  upstreamAuth: 'Credential for the upstream', 'upstreamAuth.type': 'How the gateway authenticates there', mcpResources: 'Resources of the MCP server', resourceQueries: 'Their URIs may have a query', subscriptions: 'Clients learn of changes of its resources', mcpPrompts: 'Prompts of the MCP server', mcpInstructions: 'Instructions of the MCP server', edgeJwt: 'JWT for an upstream behind a web server', cors: 'Pages of other origins that may call it',
};

// The members of upstreamAuth by its type; a member of another type is refused.
const CLIENT = ['issuer', 'tokenEndpoint', 'clientId', 'clientSecret', 'tokenAuthMethod', 'scopes', 'scopeSeparator', 'resource', 'tokenParams', 'refreshParams', 'tokenBodyFormat', 'accessTokenPointer', 'accountPointer', 'defaultExpiresIn'];
const GRANT = [...CLIENT, 'privateKeyJwt', 'audience'];
const AUTH = {
  none: [], static_header: ['header', 'scheme', 'query', 'value'], basic: ['username', 'password'], client_credentials: GRANT, token_exchange: [...GRANT, 'subjectTokenType', 'requestedTokenType'],
  oauth_link: [...CLIENT, 'header', 'scheme', 'provider', 'discovery', 'authorizationEndpoint', 'revocationEndpoint', 'registration', 'redirectUri', 'scopeParam', 'pkce', 'resourceParam', 'authorizeParams'],
  user_secret: ['header', 'scheme', 'query', 'label', 'help', 'validate'],
};
const MCP = ['toolPinning', 'mcpResources', 'resourceQueries', 'subscriptions', 'mcpPrompts', 'mcpInstructions'];

// True for a member that has no meaning for this resource.
function hides(stored) {
  return (path, value) => {
    const [first, second, third] = path.split('.');
    if (first === 'upstreamAuth' && second) return third === undefined && second !== 'type' && !AUTH[value.type ?? 'none'].includes(second);
    if (second === undefined && stored && first === 'name') return true;
    const type = value.upstreamType;
    if (MCP.includes(first)) return type !== 'MCP';
    if (['publicUrls', 'edgeJwt', 'cors', 'routes', 'tools'].includes(first) && second === undefined) return type === 'MCP';
    if (first === 'upstreamUrl' || first === 'upstreamAuth') return type === 'STATIC';
    return /^routes\[\d+\]\.origin$|^tools\[\d+\]\.(origin|pin|upstreamName|upstreamAnnotations)$/.test(path);
  };
}

const kindFor = value => (value.upstreamType === 'MCP' ? { ...KIND, leave: ['tools'] } : KIND);

export function EditResource({ stored, saved }) {
  const from = useData(signal => schemaOf('ManagedResourceDto', signal), []);
  return html`<${Of} from=${from} what="The form cannot be made">${schema => html`<${ObjectForm} key=${stored.etag} kind=${kindFor(stored.value)} schema=${schema} stored=${stored} first=${FIRST} titles=${TITLES} hides=${hides(true)} saved=${saved} />`}<//>`;
}

const START = { upstreamType: 'MCP', enabled: true, upstreamAuth: { type: 'none' } };

export function NewResource() {
  const from = useData(signal => schemaOf('ManagedResourceDto', signal), []);
  return html`<div class="head"><div><a class="back" href="#/resources">Resources</a><h1 tabindex="-1">New resource</h1><p>The usual one is an MCP server: its tools are read after the save. <a href="#/connectors">A connector</a> brings routes and tools ready.</p></div></div>
    <${Of} from=${from} what="The form cannot be made">${schema => html`<${ObjectForm} kind=${KIND} schema=${schema} start=${START} first=${FIRST} titles=${TITLES} hides=${hides(false)} cancel="#/resources" saved=${data => go(to(['resources', data.name]))} />`}<//>`;
}
