// The API of t/contrib/middleware.t in Express or Fastify: node.mjs KIND PORT, where KIND is express,
// express4, express-exact, fastify or fastify-loose. The guards: of authz, and of a server
// that the test makes misbehave.
import { authz as forExpress } from '@authz/middleware/express';
import { authz as forFastify } from '@authz/middleware/fastify';

const [kind, port] = process.argv.slice(2);
const { AUTHZ_ISSUER: issuer, AUTHZ_CLIENT_ID: clientId, AUTHZ_CLIENT_SECRET: clientSecret, API_RESOURCE: resource, API_PEER: peer } = process.env;
const options = { issuer, clientId, clientSecret, resource, scopesSupported: ['orders.read', 'orders.write'], obligations: ['tenant'] };
const read = { scopes: ['orders.read'] };
const tier = ({ target }) => {
  if (target.includes('fail')) throw new TypeError('top-secret');
  return { tier: 'gold', method: 'PUT', resource: 'https://other.example' };
};
const routes = [
  ...['orders', 'kept', 'brief', 'closed', 'tenant', 'redact'].map((name) => ['get', `/shop/${name}`, read]),
  ['get', '/shop/of/:name', read],
  ['delete', '/shop/orders', read],
  ['post', '/shop/orders', { scopes: ['orders.write'], action: 'make' }],
  ['get', '/shop/pay', { ...read, acr: ['mfa', 'hwk'], maxAge: 300 }],
  ['get', '/shop/fresh', { ...read, maxAge: 5 }],
  ['get', '/shop/wrong', { scope: ['orders.read'] }],
  ['get', '/shop/tier', { ...read, action: 'look', context: tier }],
];
const away = { ...options, issuer: peer };
const answer = (token, at) => {
  const said = { for: token.sub, client: token.client_id, at };
  token.sub = 'changed';
  return said;
};

if (kind.startsWith('express')) {
  const { default: express } = await import(kind.replace('-exact', '')), exact = kind.endsWith('-exact');
  const app = express(), api = forExpress({ exactPaths: exact, ...options });
  const nested = express.Router({ caseSensitive: exact, strict: exact });
  if (exact) ['case sensitive routing', 'strict routing'].forEach((name) => app.enable(name));
  app.use(api.metadata);
  app.use((request, response, next) => { // as some servers are told of the address behind a proxy
    request.url = request.get('X-Test-Rewrite') ?? request.url;
    next();
  });
  nested.get('/closed', api.protect(read), (request, response) => response.json(answer(request.authz, 'closed')));
  app.use('/shop/nested', nested);
  for (const [method, path, rule] of routes) app[method](path, api.protect(rule), (request, response) => response.json(answer(request.authz, path.slice(6))));
  app.get('/away/orders', forExpress(away).protect(read), (request, response) => response.json(answer(request.authz)));
  app.listen(Number(port), '127.0.0.1');
} else {
  const { default: Fastify } = await import('fastify');
  const rewriteUrl = (request) => request.headers['x-test-rewrite'] ?? request.url;
  const loose = kind === 'fastify-loose' ? { caseSensitive: false, ignoreTrailingSlash: true } : {};
  const app = Fastify({ rewriteUrl, routerOptions: { useSemicolonDelimiter: true, ignoreDuplicateSlashes: true, ...loose } });
  await app.register(forFastify, options);
  for (const [method, url, rule] of routes) {
    app.route({ method: method.toUpperCase(), url, onRequest: app.authz.protect(rule), handler: async (request) => answer(request.authz, url.slice(6)) });
  }
  const { createGuard, requestOf } = await import('@authz/middleware');
  const guard = createGuard(away);
  app.get('/away/orders', async (request, reply) => {
    const verdict = await guard.check(requestOf(request.raw), read);
    return verdict.status === 200 ? answer(verdict.token) : reply.code(verdict.status).headers(verdict.headers).send(verdict.body);
  });
  await app.listen({ port: Number(port), host: '127.0.0.1' });
}
