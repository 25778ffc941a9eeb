// cedar_cases.mjs DIRECTORY FIRST COUNT: writes random cases with the answers of cedar-wasm, for `authzctl cedar test`.
//
// DIRECTORY gets three directories: cases/ has policies, entities and requests; taken/ has mutated policies that cedar-wasm
// takes, without requests; refused/ has those that it refuses. A case is named by its seed.
import { mkdirSync, writeFileSync } from 'node:fs';
import * as cedar from '@cedar-policy/cedar-wasm/nodejs';
import { makeCase, makeMutant } from './cedar_random.mjs';

const [directory, first, count] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];

// The package passes its argument through JSON.stringify, which knows no number of 64 bits. It gets our text instead.
const stringify = JSON.stringify;
class Text {
    constructor(text) { this.text = text; }
}
JSON.stringify = (value, ...more) => (value instanceof Text ? value.text : stringify(value, ...more));

function write(place, seed, policies, entities, requests) {
    const name = `seed-${seed}`, path = `${directory}/${place}/${name}`;
    writeFileSync(`${path}.cedar`, policies);
    writeFileSync(`${path}.entities.json`, entities);
    writeFileSync(`${path}.json`, `{"policies": "${name}.cedar", "entities": "${name}.entities.json", "requests": [${requests.join(',\n')}]}`);
}

function answer(one, request) {
    const { principal, action, resource, context } = request;
    const text = `{"principal":${principal},"action":${action},"resource":${resource},"context":${context},"policies":{"staticPolicies":${stringify(one.policies)}},"entities":${one.entities}}`;
    const seen = cedar.isAuthorized(new Text(text));
    if (seen.type !== 'success') throw new Error(`${stringify(seen.errors)}\n${text}`);
    const id = (name) => one.ids[Number(name.replace('policy', ''))];
    const { decision, diagnostics } = seen.response;
    return `{"description":"","decision":"${decision}","reason":${stringify(diagnostics.reason.map(id))},"errors":${stringify(diagnostics.errors.map((e) => id(e.policyId)))},`
        + `"principal":${principal},"action":${action},"resource":${resource},"context":${context}}`;
}

// What cedar-wasm takes and authz refuses by its own rules: two policies with one @id.
function repeatsId(policies) {
    const annotations = cedar.policySetTextToParts(policies).policies.map((policy) => cedar.policyToJson(policy).json.annotations ?? {});
    return new Set(annotations.map((of, i) => ('id' in of ? of.id ?? '' : `policy${i}`))).size < annotations.length;
}

for (const place of ['cases', 'taken', 'refused']) mkdirSync(`${directory}/${place}`, { recursive: true });
for (let seed = first; seed < first + count; seed++) {
    const mutant = makeMutant(seed), seen = cedar.checkParsePolicySet({ staticPolicies: mutant });
    write(seen.type === 'success' && !repeatsId(mutant) ? 'taken' : 'refused', seed, mutant, '[]', []);
    const one = makeCase(seed);
    write('cases', seed, one.policies, one.entities, one.requests.map((request) => answer(one, request)));
}
