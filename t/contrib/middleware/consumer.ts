// What an API in TypeScript writes with the types of contrib/middleware/node, and what they refuse.
import { createServer } from 'node:http';
import { createGuard, requestOf, type GuardOptions, type Rule, type Token } from '@authz/middleware';
import { authz as forExpress } from '@authz/middleware/express';
import forFastify, { type AuthzDecoration } from '@authz/middleware/fastify';

const options: GuardOptions = {
  issuer: 'https://auth.example', clientId: 'orders-api', clientSecret: 'secret', resource: 'https://api.example/orders',
  scopesSupported: ['orders.read'], cacheSeconds: 10, obligations: ['tenant'], requireAudience: true,
  proofUsed: async (name: string, until: number) => name.length > until,
};
const rule: Rule = {
  scopes: ['orders.read'], acr: ['mfa'], maxAge: 300, action: 'read', context: (request) => ({ tenant: request.target }),
};
const guard = createGuard(options);

createServer(async (request, response) => {
  const verdict = await guard.check(requestOf(request), rule);
  if (verdict.status === 200) {
    const token: Token = verdict.token;
    response.end(token.sub);
  } else {
    response.writeHead(verdict.status, verdict.headers).end(verdict.body);
  }
  // @ts-expect-error a refusal has no token
  verdict.token.sub.trim();
});

const api = forExpress(options);
export const handlers = [api.metadata, api.protect(rule), api.protect()];

declare const fastify: { authz: AuthzDecoration };
await forFastify(fastify, options);
fastify.authz.protect(rule);

// @ts-expect-error the secret of the client is missing
createGuard({ issuer: 'https://auth.example', clientId: 'orders-api', resource: 'https://api.example/orders' });
// @ts-expect-error no such option
createGuard({ ...options, allowHttp: true });
// @ts-expect-error scopes are a list
api.protect({ scopes: 'orders.read' });
