/* The door of the gateway: who may call it (gateway-admin.md 1.2 to 1.4), and the answers to those
 * who may not. */
#ifndef AZ_GATEWAY_DOOR_H
#define AZ_GATEWAY_DOOR_H

#include "http/route.h"
#include "oauth/own_token.h"
#include "policy/decide/gateway.h"

struct managed_resource;

/* The parts of the gateway that a token opens. */
enum gateway_place {
    GATEWAY_PROXY, /* /gateway/{name}: resources of type REST and STATIC */
    GATEWAY_MCP,   /* /gateway/mcp, and /gateway/mcp/{name} */
};

/* A request that came through the door. */
struct gateway_visit {
    enum gateway_place place;
    const char *name;                        /* of the resource; NULL: /gateway/mcp */
    const char *address;                     /* the resource of the request: {issuer}/gateway/... */
    const struct managed_resource *resource; /* its enabled row; NULL: /gateway/mcp */
    const struct own_token *token;           /* with the scopes that policy grants now */
    const char *challenge_scope;             /* scope of a 401 challenge; NULL: none is known */
    const char *refused; /* set by gateway_refuse(): the codes of a denial, for the audit row */
};

/*
 * True if the gateway is on. Otherwise the failure AZ_NOT_FOUND is recorded: with
 * SVC_GATEWAY_ENABLED=false every path below /gateway is one that does not exist. For handlers
 * below /gateway that do not call gateway_enter().
 */
bool gateway_is_on(struct request *req);

/*
 * Let a request in. The steps: the gateway is on; the Origin of a browser is allowed (GATEWAY_MCP);
 * the resource and the token are read; the token is live, shown as it must be (DPoP), not single
 * use, and made for this resource; evaluation 2 lets it live. `name` is decoded from the path, NULL
 * for /gateway/mcp. The failure is complete, with its challenges: AZ_NOT_FOUND, AZ_INVALID_TOKEN,
 * AZ_DPOP_NONCE_NEEDED, AZ_FORBIDDEN with deny_reasons, AZ_RESOURCE_UNAVAILABLE never (status is
 * the handler's affair), AZ_POLICY_UNAVAILABLE.
 */
enum az_status gateway_enter(struct request *req, enum gateway_place place, const char *name,
                             struct gateway_visit *ret);

/*
 * Ask policy about one request of a visitor, until a revision decides that may, and note question
 * and answer in the audit row. The caller fills the resource, the action, the arguments, the
 * obligations that it can meet, and mcp_version and mcp_method of the holder; the rest is set here.
 * AZ_OK with an answer, allow or deny. AZ_POLICY_UNAVAILABLE: there is no valid answer.
 */
enum az_status gateway_decide(struct request *req, const struct gateway_visit *visit,
                              struct gateway_question *question, struct gateway_decision *ret);

/* Ask policy about all tools in the same way. */
enum az_status gateway_decide_tools(struct request *req, const struct gateway_visit *visit,
                                    struct gateway_tools_question *question,
                                    enum gateway_verdict *verdicts);

/*
 * Turn a denial into a failure: AZ_INSUFFICIENT_SCOPE with the challenge that names all scopes of
 * the operation, if policy says step_up; else AZ_FORBIDDEN with deny_reasons in the body. The audit
 * row's outcome is `denied`. For GATEWAY_MCP the caller replaces the body (req->error_body), and
 * answers a denial without step_up itself.
 */
enum az_status gateway_refuse(struct request *req, struct gateway_visit *visit,
                              const struct gateway_decision *decision);

/* Add the 401 challenges of a visit: Bearer with resource_metadata and scope first, then DPoP.
 * `error` is NULL for a request without a token. */
void gateway_challenge(struct request *req, const struct gateway_visit *visit, const char *error);

#endif
