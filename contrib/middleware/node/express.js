// Express: app.use(api.metadata); app.get('/orders', api.protect({ scopes: ['orders.read'] }), handler)
import { createGuard, requestOf } from './index.js';

const send = (response, { status, headers, body }) => response.status(status).set(headers).send(body);

export function authz(options) {
  const guard = createGuard(options);
  return {
    metadata(request, response, next) {
      const asked = request.path === guard.metadataPath && ['GET', 'HEAD'].includes(request.method);
      return asked ? send(response, guard.metadata) : next();
    },
    protect: (rule) => (request, response, next) => {
      guard.check(requestOf(request, request.originalUrl), rule).then((verdict) => {
        if (verdict.status !== 200) return send(response, verdict);
        request.authz = verdict.token;
        return next();
      }).catch(next);
    },
  };
}
