// Fastify: app.register(authz, {...}); app.get('/orders', { onRequest: app.authz.protect({ scopes: ['orders.read'] }) }, handler)
import { createGuard, requestOf } from './index.js';

export async function authz(fastify, options) {
  const guard = createGuard(options);
  fastify.decorateRequest('authz', null);
  fastify.decorate('authz', {
    protect(rule) {
      return async (request, reply) => {
        const verdict = await guard.check(requestOf(request.raw), rule);
        if (verdict.status === 200) {
          request.authz = verdict.token;
          return undefined;
        }
        for (const [name, value] of verdict.headers) reply.header(name, value);
        return reply.code(verdict.status).send(verdict.body);
      };
    },
  });
  fastify.get(guard.metadataPath, async (request, reply) => {
    reply.headers({ 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' });
    return guard.metadata;
  });
}

// The decorations are for the instance that registers this plugin (fastify-plugin does the same).
authz[Symbol.for('skip-override')] = true;
authz[Symbol.for('fastify.display-name')] = 'authz';
export default authz;
