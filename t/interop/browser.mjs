// A browser without a screen: cookies per host, redirects one by one, forms of our pages. For the clients under test.
import assert from 'node:assert/strict';

export class Browser {
    constructor() { this.cookies = new Map(); }

    // One request; cookies go out and come in.
    async request(url, init = {}) {
        const host = new URL(url).host;
        const jar = this.cookies.get(host) ?? new Map();
        this.cookies.set(host, jar);
        const headers = new Headers(init.headers);
        if (jar.size) headers.set('Cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '));
        const answer = await fetch(url, { ...init, headers, redirect: 'manual' });
        for (const line of answer.headers.getSetCookie()) {
            const [pair, ...attributes] = line.split(';');
            const at = pair.indexOf('=');
            const gone = attributes.some((a) => /^\s*max-age=0\s*$/i.test(a) || /^\s*expires=Thu, 01 Jan 1970/i.test(a));
            if (gone) jar.delete(pair.slice(0, at).trim());
            else jar.set(pair.slice(0, at).trim(), pair.slice(at + 1).trim());
        }
        return answer;
    }

    // Follows redirects until one goes to an address that begins with `until`, which is returned and not opened. Our consent
    // page on the way, and the provider's question whether to sign out there too, are answered with yes.
    async follow(url, until) {
        let init = {};
        for (let hop = 0; hop < 20; hop++) {
            if (String(url).startsWith(until)) return new URL(url);
            const answer = await this.request(url, init);
            init = {};
            if (answer.status >= 300 && answer.status < 400) {
                url = new URL(answer.headers.get('Location'), url).href;
                continue;
            }
            const page = await answer.text();
            const form = this.form(page, '/authorize/consent') ?? this.form(page, '/session/end/confirm');
            assert.ok(answer.status === 200 && form, `${answer.status} at ${url}: ${page.slice(0, 2000)}`);
            init = { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded', Origin: new URL(url).origin },
                     body: new URLSearchParams({ ...form.fields, decision: 'allow', logout: 'yes' }) };
            url = new URL(form.action, url).href;
        }
        assert.fail(`more than 20 hops, the last to ${url}`);
    }

    // The first form of a page whose address holds `word`: its address and hidden fields.
    form(page, word) {
        for (const [, attributes, inside] of page.matchAll(/<form([^>]*)>(.*?)<\/form>/gs)) {
            const action = unescapeHtml(/\saction="([^"]*)"/.exec(attributes)?.[1] ?? '');
            if (!action.includes(word)) continue;
            const fields = {};
            for (const [, input] of inside.matchAll(/<input([^>]*)>/g)) {
                const name = /\sname="([^"]*)"/.exec(input)?.[1];
                if (name && /type="hidden"/.test(input)) fields[name] = unescapeHtml(/\svalue="([^"]*)"/.exec(input)?.[1] ?? '');
            }
            return { action, fields };
        }
        return undefined;
    }
}

const unescapeHtml = (text) =>
    text.replace(/&(?:amp|lt|gt|quot|#39|#x27);/gi, (entity) => ({ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' })[entity.toLowerCase()] ?? "'");
