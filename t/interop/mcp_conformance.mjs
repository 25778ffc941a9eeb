// The conformance suite of the Model Context Protocol against the endpoint of one resource. Settings: URL, TOKEN, PORT (an unused
// port), EXPECTED (names of the scenarios that must fail, with their reasons, as JSON). The suite shows no token, so a server of
// this script adds it.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { is, ok, run } from './tap.mjs';

const { URL: address, TOKEN, PORT, EXPECTED } = process.env;
const expected = JSON.parse(EXPECTED), here = dirname(fileURLToPath(import.meta.url));

// Node.js 20 has no globSync, which no scenario of servers uses.
const suite = join(here, 'conformance_suite.mjs');
const text = readFileSync(join(here, 'node_modules/@modelcontextprotocol/conformance/dist/index.js'), 'utf8');
writeFileSync(suite, text.replace(/globSync as \w+,/, ''));
writeFileSync(join(here, 'expected.yaml'), `server:\n${Object.keys(expected).map((name) => `  - ${name}\n`).join('')}`);

const front = http.createServer((request, response) => {
    const onward = http.request(address, { method: request.method, headers: { ...request.headers, authorization: `Bearer ${TOKEN}` } }, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
    });
    request.pipe(onward);
});

await run(async () => {
    await new Promise((done) => front.listen(Number(PORT), '127.0.0.1', done));
    const child = spawn(process.execPath, [suite, 'server', '--url', `http://127.0.0.1:${PORT}/`, '--suite', 'all', '--expected-failures', join(here, 'expected.yaml'), '--output-dir', join(here, 'results')]);
    let output = '';
    child.stdout.on('data', (octets) => { output += octets; });
    child.stderr.on('data', (octets) => { output += octets; });
    const status = await new Promise((done) => child.on('close', done));
    const verdict = (name) => new RegExp(`([✓✗]) ${name}: (\\d+) passed, (\\d+) failed`).exec(output);
    const names = [...output.matchAll(/^\s*[✓✗] (\S+): \d+ passed/gm)].map((match) => match[1]);
    ok(names.length > 30, 'MCP conformance: the suite ran', output.slice(-2000));
    for (const name of names.filter((name) => !(name in expected)))
        ok(verdict(name)[3] === '0' && verdict(name)[2] !== '0', `MCP conformance: ${name}`, output.slice(-4000));
    for (const [name, reason] of Object.entries(expected))
        ok(output.includes(`~ ${name}\n`), `MCP conformance: ${name} fails as expected: ${reason}`);
    is(status, 0, 'MCP conformance: no other scenario fails, and no expected one passes');
});
