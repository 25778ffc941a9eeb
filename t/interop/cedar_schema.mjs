// Read a Cedar schema with cedar-wasm, and print it in its JSON form, with the number of faults that rules have by it.
import fs from 'node:fs';
import * as cedar from '@cedar-policy/cedar-wasm/nodejs';

const text = fs.readFileSync(process.argv[2], 'utf8');
const read = cedar.schemaToJson(text);
if (read.type !== 'success') {
    console.error(JSON.stringify(read));
    process.exit(1);
}
const rules = {
    good: `forbid (principal == Client::"shop", action == Action::"issue:access_token:client_credentials", resource)
        when { context.svc.evaluation == "issue" }
        unless { context.svc has ip && context.svc.ip == "192.0.2.7" };`,
    type: 'forbid (principal == Clinet::"shop", action, resource);',
    action: 'forbid (principal, action == Action::"isue:scope:a", resource);',
    member: 'forbid (principal, action == Action::"introspect", resource) when { context.svc.endpont == "/token" };',
};
const faults = {};
for (const [name, rule] of Object.entries(rules)) {
    const answer = cedar.validate({ schema: text, policies: { staticPolicies: rule } });
    faults[name] = answer.type === 'success' ? answer.validationErrors.length : -1;
}
console.log(JSON.stringify({ schema: read.json, faults }));
