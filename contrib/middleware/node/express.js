// Express: const api = authz({...}); app.use(api.metadata); app.get('/orders', api.protect({ scopes: ['orders.read'] }), handler)
import { createGuard, requestOf } from './index.js';

export function authz(options) {
  const guard = createGuard(options);
  return {
    metadata(request, response, next) {
      if (request.path !== guard.metadataPath || !['GET', 'HEAD'].includes(request.method)) return next();
      response.set({ 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' });
      return response.send(guard.metadata);
    },
    protect(rule) {
      return (request, response, next) => {
        guard.check(requestOf(request, request.originalUrl), rule).then((verdict) => {
          if (verdict.status === 200) {
            request.authz = verdict.token;
            return next();
          }
          for (const [name, value] of verdict.headers) response.setHeader(name, value);
          response.statusCode = verdict.status;
          return response.end(verdict.body);
        }).catch(next);
      };
    },
  };
}
