import type { IncomingMessage } from 'node:http';

/** What POST /introspect says about a token (RFC 7662), and what policy adds. */
export interface Token {
  active: true;
  sub: string;
  client_id: string;
  scope?: string;
  exp: number;
  aud?: string | string[];
  acr?: string;
  auth_time?: number;
  obligations?: Record<string, unknown>;
  extensions?: Record<string, unknown>;
  [member: string]: unknown;
}

/** Other members are refused. */
export interface GuardOptions {
  /** Issuer of authz, such as https://auth.example. */
  issuer: string;
  /** The client of this API; its binding has the endpoint introspect and this resource. */
  clientId: string;
  clientSecret: string;
  /** Address of this API as clients know it (RFC 8707, RFC 9728). Proofs are for its scheme and host. */
  resource: string;
  /** Scopes that the metadata names. */
  scopesSupported?: string[];
  /** Most seconds that an answer is kept, 0 to 30; 30 by default. Policy says in extensions.cache_seconds whether it is kept at all. */
  cacheSeconds?: number;
  /** Names of the obligations that this API meets. A token with another one is 403. */
  obligations?: string[];
  /** false: a token that names no resource passes. One that names another resource never passes. */
  requireAudience?: boolean;
  /**
   * true: the routes tell case and a slash at the end apart, so a path may have both. Else a path with a capital or such
   * a slash is 400, since an application that ignores them (Express, unless told) reads it as another one. With Fastify
   * the default is as the server is set.
   */
  exactPaths?: boolean;
  /** True if the proof was used before; remembers it until then (seconds since 1970). The default remembers in this process alone. */
  proofUsed?: (name: string, until: number) => boolean | Promise<boolean>;
  /** Gets a line for each refusal, with cause and cure and without secrets; console.error by default. */
  log?: (text: string) => void;
}

export interface Rule {
  /** All of these are needed. */
  scopes?: string[];
  /** One of these authentication contexts is needed (RFC 9470). */
  acr?: string[];
  /** Most seconds since the person signed in (RFC 9470). */
  maxAge?: number;
  /** What policy is told beside resource, method and path: input.context.resource_type and input.context.action. */
  resourceType?: string;
  action?: string;
  /** More members of input.context. */
  context?: Record<string, unknown> | ((request: GuardRequest) => Record<string, unknown>);
}

export interface GuardRequest {
  method: string;
  /** Path and query as they came. */
  target: string;
  /** The path by which the application routes, if that is not the one of target. Rules see this one, proofs the other. */
  path?: string;
  authorization: string[];
  dpop: string[];
  message?: IncomingMessage;
}

/** An answer to the caller. */
export interface Answer { status: number; headers: Record<string, string | string[]>; body: string }

export type Verdict =
  | { status: 200; token: Token }
  | (Answer & { status: 400 | 401 | 403 | 503 });

export interface Guard {
  /** Path of the metadata (RFC 9728), and the answer there. */
  metadataPath: string;
  metadata: Answer;
  check(request: GuardRequest, rule?: Rule): Promise<Verdict>;
}

export function createGuard(options: GuardOptions): Guard;
export function requestOf(message: IncomingMessage, target?: string, path?: string): GuardRequest;
