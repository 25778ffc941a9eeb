// The conformance suite of the Model Context Protocol against the endpoint of one resource. Settings: URL, TOKEN, PORT (an unused
// port), REVISION, EXPECTED (names of the scenarios that fail, with their rules, as JSON). The suite shows no token, so a server
// of this script adds it.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ok, run } from './tap.mjs';

const { URL: address, TOKEN, PORT, REVISION, EXPECTED } = process.env;
const expected = JSON.parse(EXPECTED), here = dirname(fileURLToPath(import.meta.url));

// Node.js 20 has no globSync, which no scenario of servers uses: the suite without it, beside what it reads.
const suite = join(here, 'conformance/dist/suite.mjs'), given = join(here, 'node_modules/@modelcontextprotocol/conformance');
mkdirSync(dirname(suite), { recursive: true });
cpSync(join(given, 'requirements'), join(here, 'conformance/requirements'), { recursive: true });
writeFileSync(suite, readFileSync(join(given, 'dist/index.js'), 'utf8').replace(/globSync as \w+,/, ''));
// What the revision requires of a server; the rest that the suite runs (extensions, what came later) is not scored.
const required = /^server:\n((?: {2}- .*\n)+)/m.exec(readFileSync(join(given, `requirements/${REVISION}.yaml`), 'utf8'))[1].match(/[^\s-].*/g);

const front = http.createServer((request, response) => {
    const onward = http.request(address, { method: request.method, headers: { ...request.headers, authorization: `Bearer ${TOKEN}` } }, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
});

await run(async () => {
    await new Promise((done) => front.listen(Number(PORT), '127.0.0.1', done));
    const child = spawn(process.execPath, [suite, 'server', '--url', `http://127.0.0.1:${PORT}/`, '--requirements', REVISION, '--output-dir', join(here, 'results')]);
    let output = '';
    child.stdout.on('data', (octets) => { output += octets; });
    child.stderr.on('data', (octets) => { output += octets; });
    await new Promise((done) => child.on('close', done));
    const passes = (name) => {
        const [, passed, failed] = new RegExp(`${name}: (\\d+) passed, (\\d+) failed`).exec(output) ?? [];
        return failed === '0' && passed !== '0';
    };
    ok(required.length >= 30, `MCP conformance ${REVISION}: the suite requires scenarios`, required);
    for (const name of required.filter((name) => !(name in expected)))
        ok(passes(name), `MCP conformance ${REVISION}: ${name}`, output.slice(-4000));
    for (const [name, reason] of Object.entries(expected))
        ok(required.includes(name) && !passes(name), `MCP conformance ${REVISION}: ${name} fails: ${reason}`);
});
