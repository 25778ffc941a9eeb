// Fastify: app.get('/orders', { onRequest: app.authz.protect({ scopes: ['orders.read'] }) }, handler)
import { createGuard, requestOf } from './index.js';

const send = (reply, { status, headers, body }) => reply.code(status).headers(headers).send(body);

export async function authz(fastify, options) {
  const settings = [fastify.initialConfig, fastify.initialConfig.routerOptions ?? {}];
  const exactPaths = settings.every((each) => each.caseSensitive !== false && each.ignoreTrailingSlash !== true);
  const guard = createGuard({ exactPaths, ...options });
  fastify.decorateRequest('authz', null);
  fastify.decorate('authz', {
    protect: (rule) => async (request, reply) => {
      const path = request.raw.url.split('?')[0]; // by which Fastify routes, after rewriteUrl
      const verdict = await guard.check(requestOf(request.raw, request.originalUrl, path), rule);
      if (verdict.status !== 200) return send(reply, verdict);
      request.authz = verdict.token;
      return undefined;
    },
  });
  fastify.get(guard.metadataPath, async (request, reply) => send(reply, guard.metadata));
}

// The decoration is for the instance that registers this plugin (fastify-plugin does the same).
authz[Symbol.for('skip-override')] = true;
export default authz;
