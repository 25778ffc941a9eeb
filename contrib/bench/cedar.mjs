// cedar.mjs OPA DIRECTORY: times of the decisions of policies, each asked with all requests of its case. DIRECTORY/part has
// the cases, DIRECTORY/batches what authzctl has given to the engine.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import * as cedar from '@cedar-policy/cedar-wasm/nodejs';

const [opa, directory] = process.argv.slice(2);
const read = (path) => readFileSync(path, 'utf8');

// Each question is asked this often, and the last time counts: the engine compiles a query when it is first asked.
const ROUNDS = 3;

function print(name, times) {
    const sorted = times.toSorted((a, b) => a - b), at = (share) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] / 1000).toFixed(1);
    console.log(`${name.padEnd(64)} median ${at(0.5).padStart(8)} us   p99 ${at(0.99).padStart(8)} us   (${sorted.length} decisions)`);
}

function ask(socketPath, path, body) {
    return new Promise((resolve, reject) => {
        const sent = request({ socketPath, path, method: body === undefined ? 'GET' : 'POST', headers: { 'content-type': 'application/json' } }, (answer) => {
            let text = '';
            answer.setEncoding('utf8').on('data', (part) => (text += part)).on('end', () => resolve({ status: answer.statusCode, text }));
        });
        sent.on('error', reject).end(body);
    });
}

async function start(batch, socket) {
    const modules = readdirSync(batch).filter((name) => /^(c[0-9]+|rt)\.rego$/.test(name));
    const engine = spawn(opa, ['run', '--server', '--skip-version-check', '--log-level', 'error', '--addr', `unix://${socket}`, ...modules], { cwd: batch, stdio: 'ignore' });
    for (let i = 0; i < 600; i++) {
        if ((await ask(socket, '/health').catch(() => undefined))?.status === 200) return engine;
        await sleep(50);
    }
    throw new Error('the engine does not start');
}

// Evaluation only, and the whole handler with the parsing of the input; both by the engine's own timers.
async function engineTimes(batch, socket, evaluation, handler) {
    const engine = await start(batch, socket);
    try {
        for (const [name, one] of Object.entries(JSON.parse(read(`${batch}/cases/data.json`))))
            for (const asked of one.requests) {
                const body = JSON.stringify({ input: { cedar: { ...asked, entities: one.entities } } });
                let answer;
                for (let i = 0; i < ROUNDS; i++) answer = JSON.parse((await ask(socket, `/v1/data/file/${name}/result?metrics`, body)).text);
                if (answer.result?.errors === undefined) throw new Error(`${name}: no answer`);
                evaluation.push(answer.metrics.timer_rego_query_eval_ns);
                handler.push(answer.metrics.timer_server_handler_ns);
            }
    } finally {
        engine.kill();
        await new Promise((resolve) => engine.once('exit', resolve));
    }
}

function timed(times, code) {
    let taken, answer;
    for (let i = 0; i < ROUNDS; i++) {
        const began = process.hrtime.bigint();
        answer = code();
        taken = Number(process.hrtime.bigint() - began);
    }
    if (answer.type !== 'success') throw new Error(JSON.stringify(answer));
    times.push(taken);
}

// Policies parsed before, and with each decision. The package parses entities and context with each decision in both.
// Cases with a Long of 16 digits or more are left out.
function packageTimes(name, parsed, whole) {
    const path = `${directory}/part/corpus/${name}`, policies = { staticPolicies: read(`${path}.cedar`) };
    // A number of JavaScript loses digits of a Long, and the package refuses what it becomes.
    if (/\d{16}/.test(read(`${path}.entities.json`) + read(`${path}.json`))) return;
    const entities = JSON.parse(read(`${path}.entities.json`));
    if (cedar.preparsePolicySet(name, policies).type !== 'success') throw new Error(name);
    for (const { principal, action, resource, context } of JSON.parse(read(`${path}.json`)).requests) {
        const call = { principal, action, resource, context, entities };
        timed(parsed, () => cedar.statefulIsAuthorized({ ...call, preparsedPolicySetId: name, validateRequest: false }));
        timed(whole, () => cedar.isAuthorized({ ...call, policies }));
    }
}

const evaluation = [], handler = [], parsed = [], whole = [];
for (const batch of readdirSync(`${directory}/batches`)) await engineTimes(`${directory}/batches/${batch}`, `${directory}/opa-${batch}.sock`, evaluation, handler);
for (const name of readdirSync(`${directory}/part/corpus`).filter((file) => file.endsWith('.cedar'))) packageTimes(name.slice(0, -6), parsed, whole);
print('engine, evaluation of the generated Rego', evaluation);
print('engine, whole request with reading entities and request', handler);
print('cedar-wasm, policies parsed before, reading entities and request', parsed);
print('cedar-wasm, reading everything', whole);
