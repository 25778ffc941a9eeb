// An MCP server with three tools for orders, made with the SDK of the protocol.
//
//   PORT=8001 node server.mjs
//
// It checks no token: let nobody but the gateway of authz reach it. With the settings of protect.mjs in its environment it
// protects itself instead. With the argument --delete it has a fourth tool.
import http from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { metadata, permitted, protectedHere } from './protect.mjs';

const port = Number(process.env.PORT ?? 8001);
const BODY_MAX = 1 << 20; // octets
const orders = new Map([[1, 'two chairs'], [2, 'a table'], [3, 'six lamps']]);
const text = (said) => ({ content: [{ type: 'text', text: said }] });

function makeServer() {
    const server = new McpServer({ name: 'orders', version: '1.0.0' });
    const order = z.number().int();
    server.registerTool('list_orders', { description: 'List all orders.' },
        () => text([...orders].map(([number, what]) => `${number}: ${what}`).join(', ')));
    server.registerTool('ship_order', { description: 'Ship an order.', inputSchema: { order } },
        ({ order: number }) => text(`order ${number} is on its way`));
    server.registerTool('refund_order', { description: 'Pay money back.', inputSchema: { order, euros: z.number() } },
        ({ order: number, euros }) => text(`${euros} euros paid back for order ${number}`));
    if (process.argv.includes('--delete'))
        server.registerTool('delete_orders', { description: 'Delete all orders.' }, () => text('all orders are deleted'));
    return server;
}

async function read(request) {
    const chunks = [];
    let octets = 0;
    for await (const chunk of request) {
        if ((octets += chunk.length) > BODY_MAX) return undefined;
        chunks.push(chunk);
    }
    try { return JSON.parse(Buffer.concat(chunks).toString()); } catch { return undefined; }
}

function refuse(response, status) { response.writeHead(status, { 'Content-Type': 'text/plain' }).end(http.STATUS_CODES[status]); }

// Every request stands alone, without a session.
async function serve(request, response) {
    const path = request.url.split('?')[0];
    if (protectedHere && path === metadata.path) return metadata.answer(response);
    if (path !== '/mcp') return refuse(response, 404);
    if (request.method !== 'POST') return refuse(response, 405);
    const body = await read(request);
    if (body === undefined) return refuse(response, 400);
    if (protectedHere && !await permitted(request, response, body)) return undefined;
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    const server = makeServer();
    response.on('close', () => server.close());
    await server.connect(transport);
    return transport.handleRequest(request, response, body);
}

http.createServer((request, response) => {
    serve(request, response).catch((fault) => {
        console.error(fault);
        if (!response.headersSent) refuse(response, 500);
    });
}).listen(port, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${port}/mcp`));
