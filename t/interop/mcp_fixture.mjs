// The MCP server that the conformance suite expects (its scenarios name tools, prompts and resources), made with the SDK, for
// the gateway to stand in front of. Settings: PORT.
import http from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const text = (said) => ({ type: 'text', text: said });
const image = { type: 'image', data: png, mimeType: 'image/png' };
const embedded = (uri, mimeType, said) => ({ type: 'resource', resource: { uri, mimeType, text: said } });
const wrong = (code, message, data) => Object.assign(new Error(message), { code, data });
const object = { type: 'object' };
const address = { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } };

// Questions to the person or the client in place of an answer (multi round-trip requests).
const elicit = (message, properties) => ({
    method: 'elicitation/create', params: { message, requestedSchema: { type: 'object', properties, required: Object.keys(properties) } },
});
const sample = (said) => ({ method: 'sampling/createMessage', params: { messages: [{ role: 'user', content: text(said) }], maxTokens: 100 } });
const roots = { method: 'roots/list', params: {} };
const input = (inputRequests, requestState) => ({ resultType: 'input_required', inputRequests, ...(requestState && { requestState }) });
// A tool that asks until it has each answer, and then says what it got.
const asking = (requests, state) => (_, { mcpReq: { inputResponses: given } }) => given && Object.keys(requests).every((key) => key in given)
    ? { content: [text(JSON.stringify(given))] } : input(requests, state);
const name = { user_name: elicit('What is your name?', { name: { type: 'string' } }) };
const options = ['option1', 'option2', 'option3'];
const titled = ['First', 'Second', 'Third'].map((title, i) => ({ const: `value${i + 1}`, title: `${title} Option` }));
const confirm = { confirm: elicit('Please confirm', { ok: { type: 'boolean' } }) };

// What each tool answers.
const answers = {
    test_simple_text: () => ({ content: [text('This is a simple text response for testing.')] }),
    test_image_content: () => ({ content: [image] }),
    test_audio_content: () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] }),
    test_embedded_resource: () => ({ content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')] }),
    test_multiple_content_types: () => ({
        content: [text('Multiple content types test:'), image, embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}')],
    }),
    test_error_handling: () => ({ content: [text('This tool intentionally returns an error for testing')], isError: true }),
    json_schema_2020_12_tool: () => ({ content: [text('seen')] }),
    test_missing_capability: () => {
        throw wrong(-32021, 'Missing required client capability', { requiredCapabilities: { sampling: {} } });
    },
    test_tool_with_progress: async ({ _meta }, { mcpReq }) => {
        for (const progress of [0, 50, 100])
            await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: _meta.progressToken, progress, total: 100 } });
        return { content: [text('done')] };
    },
    test_streaming_elicitation: () => ({ content: [text('Streaming complete')] }),
    test_input_required_result_elicitation: asking(name),
    test_input_required_result_sampling: asking({ capital_question: sample('What is the capital of France?') }),
    test_input_required_result_list_roots: asking({ client_roots: roots }),
    test_input_required_result_request_state: (_, { mcpReq: { inputResponses: given, requestState: state } }) => given && state() === 'kept'
        ? { content: [text('state-ok')] } : input(confirm, 'kept'),
    test_input_required_result_tampered_state: asking(confirm, 'kept'),
    test_input_required_result_multiple_inputs: asking({ ...name, greeting: sample('Generate a greeting'), client_roots: roots }, 'kept'),
    test_input_required_result_multi_round: (_, { mcpReq: { inputResponses: given, requestState: state } }) => {
        if (state() === 'second' && given?.step2) return { content: [text('done')] };
        if (state() === 'first' && given?.step1) return input({ step2: elicit('What is your favorite color?', { color: { type: 'string' } }) }, 'second');
        return input({ step1: elicit('What is your name?', { name: { type: 'string' } }) }, 'first');
    },
    test_input_required_result_capabilities: (_, { mcpReq: { envelope } }) => {
        const { elicitation, sampling } = envelope['io.modelcontextprotocol/clientCapabilities'];
        return input({ ...(elicitation && name), ...(sampling && { s: sample('Say something') }) });
    },
    // What older clients are asked on the stream of their call, and what they hear there.
    test_sampling: (params, extra) => asking({ said: sample(params.arguments.prompt) })(params, extra),
    test_elicitation: (params, extra) => asking({
        user: elicit(params.arguments.message, { username: { type: 'string' }, email: { type: 'string' } }) })(params, extra),
    test_elicitation_sep1034_defaults: asking({ defaults: elicit('Please confirm', {
        name: { type: 'string', default: 'John Doe' }, age: { type: 'integer', default: 30 }, score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' }, verified: { type: 'boolean', default: true } }) }),
    test_elicitation_sep1330_enums: asking({ enums: elicit('Please choose', {
        untitledSingle: { type: 'string', enum: options }, titledSingle: { type: 'string', oneOf: titled },
        legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
        untitledMulti: { type: 'array', items: { type: 'string', enum: options } }, titledMulti: { type: 'array', items: { anyOf: titled } } }) }),
    test_tool_with_logging: async (_, { mcpReq }) => {
        for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed'])
            await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
        return { content: [text('done')] };
    },
    test_logging_tool: () => ({ content: [text('Logging evaluated')] }),
};
const schemas = {
    json_schema_2020_12_tool: {
        $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', $defs: { address }, additionalProperties: false,
        properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
    },
};
const tools = Object.keys(answers).map((name) => ({ name, description: name, inputSchema: schemas[name] ?? object }));

const user = (content) => ({ role: 'user', content });
const prompts = {
    test_simple_prompt: [[], () => [user(text('This is a simple prompt for testing.'))]],
    test_prompt_with_arguments: [['arg1', 'arg2'], ({ arg1, arg2 }) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))]],
    test_prompt_with_embedded_resource: [['resourceUri'], ({ resourceUri }) => [
        user(embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.')), user(text('Please process the embedded resource above.'))]],
    test_prompt_with_image: [[], () => [user(image), user(text('Please analyze the image above.'))]],
    test_input_required_result_prompt: [[], () => [user(text('With context'))], { user_context: elicit('What context?', { context: { type: 'string' } }) }],
};

const files = {
    'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
    'test://static-binary': { mimeType: 'image/png', blob: png },
    'test://watched-resource': { mimeType: 'text/plain', text: 'Watched resource content' },
};
const templated = (uri) => {
    const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
    return id && { mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) };
};

function server() {
    const made = new Server({ name: 'fixture', version: '1.0.0' }, { capabilities: { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {}, logging: {} } });
    made.setRequestHandler('tools/list', () => ({ tools }));
    made.setRequestHandler('tools/call', ({ params }, extra) => answers[params.name](params, extra));
    made.setRequestHandler('prompts/list', () => ({
        prompts: Object.entries(prompts).map(([name, [args]]) => ({ name, description: name, arguments: args.map((arg) => ({ name: arg, required: true })) })),
    }));
    made.setRequestHandler('prompts/get', ({ params }, { mcpReq }) => {
        const [, messages, asked] = prompts[params.name];
        return asked && !mcpReq.inputResponses ? input(asked) : { messages: messages(params.arguments ?? {}) };
    });
    made.setRequestHandler('resources/list', () => ({
        resources: Object.entries(files).map(([uri, { mimeType }]) => ({ uri, name: uri.slice(7), description: uri, mimeType })),
    }));
    made.setRequestHandler('resources/templates/list', () => ({
        resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', description: 'A template', mimeType: 'application/json' }],
    }));
    made.setRequestHandler('resources/read', ({ params: { uri } }) => {
        const file = files[uri] ?? templated(uri);
        if (!file) throw wrong(-32602, 'Resource not found', { uri });
        return { contents: [{ uri, ...file }] };
    });
    made.setRequestHandler('completion/complete', ({ params: { argument } }) => ({ completion: { values: [`${argument.value}-completed`], total: 1, hasMore: false } }));
    return made;
}

const handle = toNodeHandler(createMcpHandler(server, { legacy: 'reject' }));
http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const octets = Buffer.concat(chunks).toString();
    return handle(request, response, octets ? JSON.parse(octets) : undefined);
}).listen(Number(process.env.PORT), '127.0.0.1');
