// The command that the conformance suite runs as its client: it hands the address of a scenario's server to the test, and waits
// until the gateway has visited it. Argument: the port of the test, then the address.
import { createConnection } from 'node:net';

const [port, address] = process.argv.slice(2);
const socket = createConnection(Number(port), '127.0.0.1', () => socket.write(`${JSON.stringify({
    scenario: process.env.MCP_CONFORMANCE_SCENARIO, address, context: JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}'),
})}\n`));
socket.on('error', (error) => { console.error(error.message); process.exitCode = 1; });
socket.resume();
