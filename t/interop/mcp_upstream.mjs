// An MCP server made with the SDK, as the upstream of a managed resource. Settings: PORT, LINE (1: the 1.x SDK with sessions; 2:
// the 2.x SDK, revision 2026-07-28 alone), AT (the only path; any other one is redirected there, as web frameworks do). POST /control changes its tools or drops its sessions; GET /seen tells every request
// that came.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { Server as OldServer } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

const { PORT, LINE, AT } = process.env;
const about = { name: 'upstream', version: '1.0.0' }, capabilities = { capabilities: { tools: {} } };
const seen = [], sessions = new Map();
let control = {};

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const tools = () => [
    { name: 'echo', description: control.echo ?? 'Say the same.', inputSchema: text, annotations: { readOnlyHint: true } },
    { name: 'sum.up', description: 'Add two numbers.',
      inputSchema: { type: 'object', properties: { a: { type: 'integer', 'x-mcp-header': 'A' }, b: { type: 'integer' } }, required: ['a', 'b'] },
      outputSchema: { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'] } },
    { name: 'fail', description: 'Fail.', inputSchema: { type: 'object' } },
    { name: 'progress', description: 'Tell the progress first.', inputSchema: { type: 'object' } },
    ...(control.more ?? []).map((name) => ({ name, description: 'New.', inputSchema: text })),
].filter((tool) => !(control.less ?? []).includes(tool.name));

async function call({ name, arguments: given = {} }, notify) {
    if (!tools().some((tool) => tool.name === name)) throw Object.assign(new Error(`no tool ${name}`), { code: -32602 });
    if (name === 'sum.up') {
        const sum = { sum: given.a + given.b };
        return { content: [{ type: 'text', text: JSON.stringify(sum) }], structuredContent: sum };
    }
    if (name === 'fail') return { content: [{ type: 'text', text: 'it failed' }], isError: true };
    if (name === 'progress') await notify();
    return { content: [{ type: 'text', text: name === 'progress' ? 'done' : given.text }], _meta: { secret: 'of the upstream' } };
}

const log = { method: 'notifications/message', params: { level: 'info', data: 'half' } };

async function oldTransport(request, response, body) {
    const id = request.headers['mcp-session-id'];
    if (id) return sessions.get(id);
    if (body?.method !== 'initialize') return undefined;
    const server = new OldServer(about, { capabilities: { tools: {}, logging: {} } });
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (made) => sessions.set(made, transport) });
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools() }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => call(params, () => extra.sendNotification(log)));
    await server.connect(transport);
    return transport;
}

async function serveOld(request, response, body) {
    const transport = await oldTransport(request, response, body);
    if (transport) return transport.handleRequest(request, response, body);
    const status = request.headers['mcp-session-id'] ? 404 : 400;
    response.writeHead(status, { 'Content-Type': 'application/json' });
    return response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message: status === 404 ? 'Session not found' : 'No session' } }));
}

const modern = toNodeHandler(createMcpHandler(() => {
    const server = new Server(about, capabilities);
    server.setRequestHandler('tools/list', () => ({ tools: tools(), ttlMs: 1000, cacheScope: 'public' }));
    server.setRequestHandler('tools/call', ({ params }) => call(params, () => undefined));
    return server;
}, { legacy: 'reject' }));

http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const octets = Buffer.concat(chunks).toString();
    if (request.url === '/seen') return response.end(JSON.stringify(seen));
    if (request.url === '/control') {
        control = JSON.parse(octets);
        if (control.forget) sessions.clear();
        return response.end();
    }
    if (AT && request.url !== AT) return response.writeHead(307, { Location: AT }).end();
    seen.push({ method: request.method, headers: request.headers, body: octets });
    const body = octets ? JSON.parse(octets) : undefined;
    return LINE === '1' ? serveOld(request, response, body) : modern(request, response, body);
}).listen(Number(PORT), '127.0.0.1');
