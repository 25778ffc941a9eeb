// Express: app.use(api.metadata); app.get('/orders', api.protect({ scopes: ['orders.read'] }), handler)
import { createGuard, requestOf } from './index.js';

const send = (response, { status, headers, body }) => response.status(status).set(headers).send(body);

// Return the path by which the routers choose: what is in front of this one, and the address, which an application may
// have rewritten. To a router at /shop, /shop is "/".
function routed({ baseUrl, url }) {
  const path = url.split('?')[0];
  return baseUrl && path === '/' ? baseUrl : baseUrl + path;
}

export function authz(options) {
  const guard = createGuard(options);
  return {
    metadata(request, response, next) {
      const asked = request.path === guard.metadataPath && ['GET', 'HEAD'].includes(request.method);
      return asked ? send(response, guard.metadata) : next();
    },
    protect: (rule) => (request, response, next) => {
      guard.check(requestOf(request, request.originalUrl, routed(request)), rule).then((verdict) => {
        if (verdict.status !== 200) return send(response, verdict);
        request.authz = verdict.token;
        return next();
      }).catch(next);
    },
  };
}
