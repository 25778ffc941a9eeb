// Random policies, entities and requests of Cedar. One seed always gives the same case.
//
// Expressions have a type that is wanted, so that most of them have a value; one in forty has another type, and some
// attributes are missing at some entities, so that evaluations also fail.

// A generator of 32 random bits (xorshift, after a mix that tells near seeds apart).
export function randomness(seed) {
    let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) | 1;
    const next = () => {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        return state >>> 0;
    };
    for (let i = 0; i < 8; i++) next();
    const below = (n) => next() % n;
    const pick = (list) => list[below(list.length)];
    return { below, pick, chance: (n) => below(n) === 0, some: (from, to, make) => Array.from({ length: from + below(to - from + 1) }, make) };
}

// Types of attributes: each entity type, the context and tags have the same ones.
const ATTRIBUTES = {
    n: 'Long', m: 'Long', 'a b': 'Long', s: 'String', t: 'String', b: 'Bool', on: 'Bool', e: 'Entity', f: 'Entity', ns: 'Set Long', ss: 'Set String',
    es: 'Set Entity', r: 'Record', i: 'ip', j: 'ip', d: 'decimal', w: 'datetime', u: 'duration', is_: 'Set ip', mixed: 'Set Any',
    txt_ip: 'ip text', txt_decimal: 'decimal text', txt_datetime: 'datetime text', txt_duration: 'duration text',
};
const NAMES = Object.keys(ATTRIBUTES);
const TYPES = ['User', 'Group', 'Doc', 'A::B::Thing', 'Unknown', 'User::Group'];
const IDS = ['alice', 'bob', 'team', '', 'a b', 'q"uote', 'back\\slash', '\u00e4\u4e2d\u{1f600}', 'a\nb\t', '*', '0', '\u0001\u007f'];
const STRINGS = [...IDS, 'aXbXc', 'abc', 'ab*c', '.*', '[a]', '^$', '(x|y)+?', '{2}', 'a\rb', 'a/b', '\u2028', '\ufeff', 'AAAA', '1.2.3.4', 'ip', '${x}', '%s', '\u0000', 'a\u0000b'];
const EDGE = [2n ** 63n - 1n, -(2n ** 63n), 2n ** 62n, 2n ** 53n + 1n, 3037000500n, -3037000500n, 2n ** 32n, 2n ** 31n, 86400000n, -1n, 9007199254740993n];

// Texts of extension types, most of them good. The evaluation of a bad one fails.
const TEXTS = {
    ip: ['1.2.3.4', '10.0.0.0/8', '127.0.0.1', '127.1.2.3/8', '224.0.0.1', '239.255.255.255/4', '0.0.0.0/0', '::1', '::/0', 'ff00::/8', 'ff02::1', '2001:db8::/32',
        '2001:db8::1', '10.1.2.3/24', '1:2:3:4:5:6:7:8', '1.2.3.4/32', '::1/128', '126.0.0.0/7', 'fe00::/7', '1.2.3', '::ffff:1.2.3.4', '1.2.3.4/33', '01.2.3.4', '', 'x', 'ABCD::ef'],
    decimal: ['0.0', '1.0', '1.2345', '-1.5', '922337203685477.5807', '-922337203685477.5808', '0.1', '0.10', '12.34', '922337203685477.5808', '1', '1.23456', '.5', '-0.0', '00.1', 'x', '+1.0', '1.-2'],
    datetime: ['1970-01-01', '2024-02-29', '2024-10-15T11:35:00Z', '1969-12-31T23:59:59.999Z', '2024-10-15T11:35:00.123+0100', '2024-10-15T11:35:00-2359', '0000-01-01', '9999-12-31T23:59:59.999Z',
        '2023-02-29', '2024-10-15T24:00:00Z', '2024-10-15T11:35:00', '2024-1-1', '', '2024-12-31T23:59:60Z', '1900-02-28', '2000-02-29T00:00:00+2400'],
    duration: ['0ms', '1d', '-1d', '1h30m', '1d2h3m4s5ms', '-90m', '9223372036854775807ms', '-9223372036854775808ms', '106751991167d', '86400000ms', '1s', '1h1d', '', '-', '1', '9223372036854775808ms', '61s', '1m1ms'],
};
const GOOD = { ip: 19, decimal: 9, datetime: 8, duration: 11 };

const reserved = new Set(['if', 'then', 'else', 'in', 'is', 'has', 'like', 'true', 'false', '__cedar']);

function quote(text, random, pattern = false) {
    let out = '';
    for (const c of text) {
        const code = c.codePointAt(0);
        if (c === '"' || c === '\\') out += `\\${c}`;
        else if (c === '\n') out += random.chance(2) ? '\\n' : c;
        else if (c === '\r') out += '\\r';
        else if (c === '\t') out += random.chance(2) ? '\\t' : c;
        else if (code === 0) out += '\\0';
        else if (c === "'" && random.chance(2)) out += "\\'";
        else if (pattern && c === '*') out += random.chance(2) ? '\\*' : '*';
        else if (code < 0x80 && random.chance(12)) out += `\\x${code.toString(16).padStart(2, '0')}`;
        else if (random.chance(12) || code < 0x20) out += `\\u{${code.toString(16)}}`;
        else out += c;
    }
    return `"${out}"`;
}

// A value as JSON text, which keeps all digits of a Long.
const json = (value) =>
    typeof value === 'bigint' ? String(value)
    : Array.isArray(value) ? `[${value.map(json).join(',')}]`
    : value !== null && typeof value === 'object' ? `{${Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}:${json(v)}`).join(',')}}`
    : JSON.stringify(value);

const BASIC = ['Bool', 'Long', 'String', 'Entity', 'Set Long', 'Set String', 'Set Entity', 'Record', 'ip', 'decimal', 'datetime', 'duration', 'Set ip', 'Set Any'];

class Maker {
    constructor(seed) {
        this.random = randomness(seed);
        this.uids = this.random.some(3, 7, () => this.uid());
    }

    uid() { return { type: this.random.pick(TYPES), id: this.random.pick(IDS) }; }
    known() { return this.random.chance(12) ? this.uid() : this.random.pick(this.uids); }
    long() { return this.random.chance(6) ? this.random.pick(EDGE) : BigInt(this.random.below(8) - 2); }

    // ---- values in JSON ----

    value(type, depth = 0) {
        const { random } = this;
        if (type.endsWith(' text')) {
            const all = TEXTS[type.slice(0, -5)];
            return random.pick(random.chance(4) ? all : all.slice(0, GOOD[type.slice(0, -5)]));
        }
        if (type.startsWith('Set ')) return random.some(0, 3, () => this.value(type.slice(4), depth + 1));
        switch (type) {
        case 'Bool': return random.chance(2);
        case 'Long': return this.long();
        case 'String': return random.pick(STRINGS);
        case 'Entity': return { __entity: this.known() };
        case 'Record': return this.attributes(depth + 1);
        case 'Any': return this.value(random.pick(depth > 2 ? BASIC.slice(0, 4) : BASIC), depth + 1);
        default: return { __extn: { fn: type, arg: random.pick(TEXTS[type].slice(0, GOOD[type])) } };
        }
    }

    attributes(depth = 0) {
        const all = {};
        for (const name of NAMES)
            if (this.random.below(10) > 2 * depth && !(depth > 1 && ATTRIBUTES[name] === 'Record')) all[name] = this.value(ATTRIBUTES[name], depth);
        return all;
    }

    entities() {
        const seen = new Set(), all = [];
        for (const uid of this.uids) {
            const key = JSON.stringify(uid);
            if (seen.has(key) || this.random.chance(10)) continue;
            seen.add(key);
            // Parents are later in the list, or unknown, so that there is no cycle.
            const later = this.uids.slice(this.uids.indexOf(uid) + 1).filter((other) => !seen.has(JSON.stringify(other)));
            const parents = later.filter(() => this.random.chance(2));
            if (this.random.chance(4)) parents.push({ type: 'Unknown', id: 'parent' });
            all.push({ uid, attrs: this.attributes(), parents: parents.filter((parent) => JSON.stringify(parent) !== key), tags: this.tags() });
        }
        return all;
    }

    tags() {
        const all = {};
        for (const name of ['n', 's', 'abc', '']) if (this.random.chance(2)) all[name] = this.value(ATTRIBUTES[name] ?? 'String');
        return all;
    }

    request() {
        return { principal: this.known(), action: { type: 'Action', id: this.random.pick(['view', 'edit', 'a b']) }, resource: this.known(), context: this.attributes() };
    }

    // ---- expressions ----

    entityText(uid = this.known()) { return `${uid.type}::${quote(uid.id, this.random)}`; }

    // An operand of any operator: in parentheses, unless it is a primary or member expression.
    operand(type, depth) {
        const text = this.expression(type, depth);
        return /^[A-Za-z0-9_."]+$/.test(text) && !/^(if|true|false)/.test(text) ? text : `(${text})`;
    }

    expression(type, depth) {
        const { random } = this;
        if (random.chance(40)) type = random.pick(BASIC);
        if (depth <= 0) return this.leaf(type);
        if (random.chance(10)) return `if ${this.expression('Bool', depth - 1)} then ${this.expression(type, depth - 1)} else ${this.expression(type, depth - 1)}`;
        if (random.chance(4)) return this.attribute(type, depth - 1);
        if (random.chance(25)) return `${this.operand('Entity', depth - 1)}.getTag(${this.operand('String', 0)})`;
        if (random.chance(25)) return `{${this.member()}: ${this.expression(type, depth - 1)}, "x y": 1}${random.pick(['.n', '["n"]', '["x y"]'])}`;
        const make = this[`make${type.split(' ')[0]}`];
        return make ? make.call(this, depth - 1, type) : this.leaf(type);
    }

    member() { return this.random.pick(['n', '"n"', '"x y2"', 'permit', 'when']); }

    literal(type) {
        const { random } = this;
        if (type.startsWith('Set ')) return `[${random.some(0, 3, () => this.literal(type.slice(4))).join(', ')}]`;
        switch (type) {
        case 'Bool': return random.pick(['true', 'false']);
        case 'Long': { const n = this.long(); return n < 0n && random.chance(2) ? `(${n})` : String(n); }
        case 'String': return quote(random.pick(STRINGS), random);
        case 'Entity': return this.entityText();
        case 'Record': return `{${random.some(0, 2, () => random.pick(NAMES)).filter((n, i, all) => all.indexOf(n) === i).map((n) => `${quote(n, random)}: ${this.literal('Any')}`).join(', ')}}`;
        case 'Any': return this.literal(random.pick(BASIC.slice(0, 7)));
        default: return type.endsWith(' text') ? quote(this.value(type), random) : `${type}(${quote(random.pick(random.chance(20) ? TEXTS[type] : TEXTS[type].slice(0, GOOD[type])), random)})`;
        }
    }

    leaf(type) {
        const { random } = this;
        if (random.chance(2)) return this.literal(type);
        if (type === 'Entity') return random.pick(['principal', 'resource', 'action']);
        if (type === 'Record' && random.chance(2)) return 'context';
        return this.attribute(type, 0);
    }

    // An attribute of a type, of something that should have it.
    attribute(type, depth) {
        const { random } = this;
        const names = NAMES.filter((name) => ATTRIBUTES[name] === type || random.chance(200));
        const name = names.length > 0 ? random.pick(names) : random.pick(NAMES);
        const of = random.pick(['principal', 'resource', 'context', 'context', 'context.r', 'principal.e', depth > 0 ? `(${this.expression(random.pick(['Entity', 'Record']), depth - 1)})` : 'context']);
        return /^[a-z_]+$/.test(name) && !reserved.has(name) && random.chance(2) ? `${of}.${name}` : `${of}[${quote(name, random)}]`;
    }

    comparison(depth) {
        const { random } = this, type = random.pick(['Long', 'Long', 'datetime', 'duration']);
        return `${this.operand(type, depth)} ${random.pick(['<', '<=', '>', '>='])} ${this.operand(random.chance(15) ? random.pick(BASIC) : type, depth)}`;
    }

    equality(depth) {
        const { random } = this, type = random.pick(BASIC);
        return `${this.operand(type, depth)} ${random.pick(['==', '!='])} ${this.operand(random.chance(8) ? random.pick(BASIC) : type, depth)}`;
    }

    membership(depth) {
        const { random } = this, right = random.pick(['Entity', 'Set Entity']);
        return random.pick([
            () => `${this.operand('Entity', depth)} in ${this.operand(right, depth)}`,
            () => `${this.operand('Entity', depth)} is ${random.pick(TYPES)}`,
            () => `${this.operand('Entity', depth)} is ${random.pick(TYPES)} in ${this.operand(right, depth)}`,
        ])();
    }

    has(depth) {
        const { random } = this, of = this.operand(random.pick(['Entity', 'Record']), depth);
        if (random.chance(3)) return `${of} has ${quote(random.pick(NAMES), random)}`;
        return `${of} has ${random.some(1, 3, () => random.pick(['r', 'r', 'e', 'n', 's', 'none'])).join('.')}`;
    }

    pattern() {
        const parts = this.random.some(0, 4, () => (this.random.chance(2) ? '*' : this.random.pick(STRINGS)));
        return quote(parts.join(''), this.random, true);
    }

    setCall(depth) {
        const { random } = this, type = random.pick(['Long', 'String', 'Entity', 'ip', 'Any']);
        const set = this.operand(`Set ${type}`, depth);
        return random.pick([
            () => `${set}.contains(${this.expression(type === 'Any' ? random.pick(BASIC) : type, depth)})`,
            () => `${set}.containsAll(${this.expression(`Set ${type}`, depth)})`,
            () => `${set}.containsAny(${this.expression(`Set ${type}`, depth)})`,
            () => `${set}.isEmpty()`,
        ])();
    }

    extensionCall(depth) {
        const { random } = this;
        return random.chance(2)
            ? `${this.operand('decimal', depth)}.${random.pick(['lessThan', 'lessThanOrEqual', 'greaterThan', 'greaterThanOrEqual'])}(${this.expression('decimal', depth)})`
            : random.chance(2) ? `${this.operand('ip', depth)}.isInRange(${this.expression('ip', depth)})`
            : `${this.operand('ip', depth)}.${random.pick(['isIpv4', 'isIpv6', 'isLoopback', 'isMulticast'])}()`;
    }

    makeBool(depth) {
        const { random } = this;
        return random.pick([
            () => random.some(2, 4, () => this.operand('Bool', depth)).join(' && '),
            () => random.some(2, 4, () => this.operand('Bool', depth)).join(' || '),
            () => `${this.operand('Bool', depth)} && ${this.operand('Bool', depth)} || ${this.operand('Bool', depth)}`,
            () => `${random.pick(['!', '!!', '!!!', '!!!!'])}${this.operand('Bool', depth)}`,
            () => this.comparison(depth), () => this.comparison(depth), () => this.equality(depth), () => this.equality(depth),
            () => this.membership(depth), () => this.membership(depth), () => this.has(depth), () => this.has(depth),
            () => `${this.operand('String', depth)} like ${this.pattern()}`,
            () => `${this.operand('Entity', depth)}.hasTag(${this.expression('String', depth)})`,
            () => this.setCall(depth), () => this.setCall(depth), () => this.extensionCall(depth), () => this.extensionCall(depth),
            () => `${this.attribute('Record', 0)} has n && ${this.comparison(depth)}`,
        ])();
    }

    makeLong(depth) {
        const { random } = this;
        return random.pick([
            () => random.some(2, 4, () => this.operand('Long', depth)).reduce((a, b) => `${a} ${random.pick(['+', '-', '*'])} ${b}`),
            () => `${random.pick(['-', '--', '- ', '----'])}${this.operand('Long', depth)}`,
            () => `${this.operand('duration', depth)}.${random.pick(['toMilliseconds', 'toSeconds', 'toMinutes', 'toHours', 'toDays'])}()`,
        ])();
    }

    makeSet(depth, type) { return `[${this.random.some(0, 3, () => this.expression(type.slice(4), depth)).join(', ')}]`; }
    makeAny(depth) { return this.expression(this.random.pick(BASIC), depth); }
    makeRecord(depth) {
        const names = ['n', 'r', 'e', 's', '"a b"', '"\\u{e4}"'].filter(() => this.random.chance(3));
        return `{${names.map((n) => `${n}: ${this.expression(ATTRIBUTES[n] ?? 'Long', depth)}`).join(', ')}}`;
    }

    constructed(type, depth) { return this.random.chance(3) ? `${type}(${this.expression(`${type} text`, depth)})` : this.literal(type); }
    makeip(depth) { return this.constructed('ip', depth); }
    makedecimal(depth) { return this.constructed('decimal', depth); }
    makedatetime(depth) {
        return this.random.pick([
            () => this.constructed('datetime', depth),
            () => `${this.operand('datetime', depth)}.offset(${this.expression('duration', depth)})`,
            () => `${this.operand('datetime', depth)}.toDate()`,
        ])();
    }

    makeduration(depth) {
        return this.random.pick([
            () => this.constructed('duration', depth),
            () => `${this.operand('datetime', depth)}.durationSince(${this.expression('datetime', depth)})`,
            () => `${this.operand('datetime', depth)}.toTime()`,
        ])();
    }

    // ---- policies ----

    scope(variable) {
        const { random } = this, uid = this.entityText();
        if (!random.chance(4)) return variable;
        if (variable === 'action')
            return random.pick(['action == Action::"view"', 'action in Action::"edit"', 'action in [Action::"view", Action::"a b"]', 'action in []']);
        return random.pick([`${variable} == ${uid}`, `${variable} in ${uid}`, `${variable} is ${random.pick(TYPES)}`, `${variable} is ${random.pick(TYPES)} in ${uid}`]);
    }

    policy(position) {
        const { random } = this;
        const id = random.chance(3) ? `${random.pick(STRINGS)}-${position}` : undefined;
        const annotations = [...(id !== undefined ? [`@id(${quote(id, random)})`] : []), ...(random.chance(4) ? ['@note("x")'] : []), ...(random.chance(6) ? ['@if'] : [])];
        const conditions = random.some(random.chance(9) ? 0 : 1, 2, () => `${random.pick(['when', 'when', 'unless'])} { ${this.expression('Bool', 1 + random.below(4))} }`);
        const text = `${annotations.join(' ')} ${random.pick(['permit', 'permit', 'forbid'])} (${['principal', 'action', 'resource'].map((v) => this.scope(v)).join(', ')}${random.chance(9) ? ',' : ''})`;
        return { id: id ?? `policy${position}`, text: `${text}${random.pick([' ', '\n', ' // comment\n'])}${conditions.join('\n')};\n` };
    }
}

// Return {policies, ids, entities, requests}; entities and requests are JSON text.
export function makeCase(seed) {
    const maker = new Maker(seed);
    const policies = maker.random.some(1, 4, () => 0).map((_, i) => maker.policy(i));
    const entities = json(maker.entities());
    return { policies: policies.map((p) => p.text).join(''), ids: policies.map((p) => p.id), entities, requests: maker.random.some(2, 3, () => maker.request()).map((r) => Object.fromEntries(Object.entries(r).map(([k, v]) => [k, json(v)]))) };
}

// Tokens that a mutation puts into a text.
const PIECES = ['(', ')', '{', '}', '[', ']', ',', ';', '.', '::', ':', '==', '!=', '<', '=', '&&', '||', '&', '|', '!', '-', '+', '*', '/', '%', '@', '"', '\\', "'", '?principal', '?resource',
    ' if ', ' then ', ' else ', ' in ', ' is ', ' has ', ' like ', ' true ', ' principal ', ' context ', ' when ', ' unless ', ' permit ', '_', 'x', '9', '9223372036854775808', '-9223372036854775808', '00',
    '\\u{110000}', '\\u{41}', '\\x7f', '\\x80', '\\*', '\\q', '//', '/*', '\n', '\t', '\r', '// x\r', '\f', '\v', '\u0085', '\u00a0', '\u1680', '\u2003', '\u2028', '\u202f', '\u3000', '\u200b', '\u180e', '\u00e4', '\ufeff', '#', 'ip', 'contains', '__cedar', 'A::"x"', '{}', '[]', '.n', '["n"]', '()', '@id("x")', '!!!!', '----'];

// Return a text that differs from a good one in one to three places.
export function makeMutant(seed) {
    const random = randomness(seed);
    let text = makeCase(seed).policies;
    for (let i = 1 + random.below(3); i > 0; i--) {
        const at = random.below(text.length + 1), length = random.below(6);
        const tokens = [...text.matchAll(/\w+|"(?:[^"\\]|\\.)*"|[^\w\s]+/g)];
        const token = random.pick(tokens.length > 0 ? tokens : [{ index: 0, 0: '' }]), end = token.index + token[0].length;
        text = random.pick([
            () => text.slice(0, at) + random.pick(PIECES) + text.slice(at),
            () => text.slice(0, at) + text.slice(at + length),
            () => text.slice(0, token.index) + text.slice(end),
            () => text.slice(0, token.index) + random.pick(PIECES) + text.slice(end),
            () => text.slice(0, end) + random.pick(PIECES) + text.slice(end),
            () => text.slice(0, token.index) + random.pick(tokens.length > 0 ? tokens : [token])[0] + text.slice(end),
        ])();
    }
    return text.isWellFormed?.() ?? true ? text : text.replace(/[\ud800-\udfff]/g, '?');
}
