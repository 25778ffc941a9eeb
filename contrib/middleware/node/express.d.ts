import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GuardOptions, Rule } from './index.js';

type Handler = (request: any, response: any, next: (error?: unknown) => void) => unknown;

/** Handlers for Express. A request that passes has the token in request.authz. */
export function authz(options: GuardOptions): { metadata: Handler; protect(rule?: Rule): Handler };
export type { IncomingMessage, ServerResponse };
