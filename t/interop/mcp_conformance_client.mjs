// The conformance suite of the Model Context Protocol against the gateway as a client of upstreams. Settings: PORT (of the test, which
// mcp_conformance_visit.mjs tells of each server), REVISION, EXPECTED (names of the scenarios that fail, with their rules, as JSON).
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ok, run } from './tap.mjs';

const { PORT, REVISION, EXPECTED } = process.env;
const expected = JSON.parse(EXPECTED), here = dirname(fileURLToPath(import.meta.url));

// Node.js 20 has no globSync, which no scenario uses: the suite without it, beside what it reads.
const suite = join(here, 'conformance/dist/suite.mjs'), given = join(here, 'node_modules/@modelcontextprotocol/conformance');
mkdirSync(dirname(suite), { recursive: true });
cpSync(join(given, 'requirements'), join(here, 'conformance/requirements'), { recursive: true });
cpSync(join(given, 'package.json'), join(here, 'conformance/package.json'));
writeFileSync(suite, readFileSync(join(given, 'dist/index.js'), 'utf8').replace(/globSync as \w+,/, ''));
const required = /^client:\n((?: {2}- .*\n)+)/m.exec(readFileSync(join(given, `requirements/${REVISION}.yaml`), 'utf8'))[1].match(/[^\s-].*/g);

// The checks of a scenario that failed, as the suite says.
function failures(name) {
    const results = join(here, 'results', dirname(name));
    return readdirSync(results).filter((folder) => folder.startsWith(`${basename(name)}-20`)).flatMap((folder) =>
        JSON.parse(readFileSync(join(results, folder, 'checks.json'), 'utf8')).filter((check) => check.status === 'FAILURE').map(
            (check) => `${check.id}: ${check.description} ${check.errorMessage ?? ''} ${JSON.stringify(check.details ?? {})}`));
}

await run(async () => {
    const visit = `${process.execPath} ${join(here, 'mcp_conformance_visit.mjs')} ${PORT}`;
    const child = spawn(process.execPath, [suite, 'client', '--command', visit, '--requirements', REVISION, '--timeout', '100000', '--output-dir', join(here, 'results')]);
    let output = '';
    child.stdout.on('data', (octets) => { output += octets; });
    child.stderr.on('data', (octets) => { output += octets; });
    await new Promise((done) => child.on('close', done));
    const result = (name) => new RegExp(` ${name}: (\\d+) passed, (\\d+) failed.*`).exec(output) ?? ['none', '0', '1'];
    const passes = (name) => result(name)[1] !== '0' && result(name)[2] === '0';
    const count = required.filter(passes).length;
    ok(required.length >= 18, `MCP conformance of clients, ${REVISION}: the suite requires scenarios`, required);
    for (const name of required.filter((name) => !(name in expected)))
        ok(passes(name), `MCP conformance of clients, ${REVISION}: ${name}`, passes(name) || [result(name)[0], ...failures(name)]);
    for (const [name, reason] of Object.entries(expected))
        ok(required.includes(name) && !passes(name), `MCP conformance of clients, ${REVISION}: ${name} fails: ${reason}`);
    ok(count === required.length - Object.keys(expected).length, `MCP conformance of clients, ${REVISION}: ${count} of ${required.length}`);
});
