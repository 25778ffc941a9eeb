import type { GuardOptions, Rule } from './index.js';

type Hook = (request: any, reply: any) => Promise<unknown>;

/** A plugin for Fastify. A request that passes has the token in request.authz. */
export function authz(fastify: any, options: GuardOptions): Promise<void>;
export default authz;
export interface AuthzDecoration { protect(rule?: Rule): Hook }
