/* The door of the gateway: the check of a caller's token (gateway-admin.md 1.2 to 1.4), the
 * question to policy about a request, and the answers to refused callers. */
#ifndef AZ_GATEWAY_DOOR_H
#define AZ_GATEWAY_DOOR_H

#include "http/route.h"
#include "managed/managed.h"
#include "oauth/own_token.h"
#include "policy/decide/gateway.h"

/* The parts of the gateway that a token opens. */
enum gateway_place {
    GATEWAY_PROXY, /* /gateway/{name}: resources of type REST and STATIC */
    GATEWAY_MCP,   /* /gateway/mcp, and /gateway/mcp/{name}: resources of any type */
    GATEWAY_CHECK, /* /auth/check: questions about requests to a web server in front of REST and
                      STATIC resources */
};

/* A request that came through the door. All of it lives on req->op.mem. */
struct gateway_access {
    enum gateway_place place;
    const char *name;    /* name of the resource, decoded, or NULL for /gateway/mcp */
    const char *address; /* the resource that a token must be good for: {issuer}/gateway/... */
    const struct managed_resource *resource; /* its enabled row, or NULL for /gateway/mcp */
    struct own_token *token;                 /* with the scopes that policy grants now */
};

/* True if SVC_GATEWAY_ENABLED is true: for the member is_on of every row below /gateway. */
bool gateway_is_on(const struct settings *cfg);

/*
 * Let a request in: read the token and the resource in one trip; refuse a token that is not live,
 * not shown as it must be (DPoP), for a single use, or made for another resource; and ask policy
 * for evaluation 2. `name` is decoded from the path, NULL for /gateway/mcp. The failure has its
 * challenges: AZ_INVALID_TOKEN, AZ_DPOP_NONCE_NEEDED, AZ_FORBIDDEN with deny_reasons,
 * AZ_POLICY_UNAVAILABLE; or AZ_NOT_FOUND: there is no such enabled resource, or a proxy cannot
 * serve its type.
 */
enum az_status gateway_enter(struct request *req, enum gateway_place place, const char *name,
                             struct gateway_access *ret);

/* More rows, which are read in the trip of the token. */
struct gateway_rows {
    void (*join)(struct db_batch *batch, void *arg); /* adds its statements */
    void (*take)(void *arg);                         /* reads their results */
    void *arg;
};

/* Let a request in, and read these rows too. `take` is called once the token was found. */
enum az_status gateway_enter_with(struct request *req, enum gateway_place place, const char *name,
                                  const struct gateway_rows *rows, struct gateway_access *ret);

/* Return what policy sees of a resource. `linked` may be NULL, and must outlive the question. */
struct gateway_target gateway_target_of(const struct managed_resource *resource,
                                        const bool *linked);

/*
 * Ask policy about one request, again if the revision that answered may not decide, and note
 * question and answer in the audit row. The caller fills resource, action, arguments, always and
 * obligations, and mcp_version and mcp_method of the holder; the rest of the holder is set here.
 * AZ_OK with an answer, allow or deny. AZ_POLICY_UNAVAILABLE: there is no valid answer.
 */
enum az_status gateway_decide(struct request *req, const struct gateway_access *access,
                              struct gateway_question *question, struct gateway_decision *ret);

/* Ask policy about tools in the same way; `verdicts` has room for all of them. */
enum az_status gateway_decide_tools(struct request *req, const struct gateway_access *access,
                                    struct gateway_tools_question *question,
                                    enum gateway_verdict *verdicts);

/* Seconds after which the caller of an answer that is still streamed is checked again. A token that
 * was revoked is of no use for longer than that, and each look costs a few trips and two decisions.
 */
#define GATEWAY_LOOK_SECONDS 20

/*
 * Find out if a caller would be let in now: the token is live, the resource of the request is as
 * it was when it came, and policy allows token and request. *ret_why is NULL, or says why not.
 * Nothing of the request is changed. Another status than AZ_OK: it cannot be found out now.
 */
enum az_status gateway_look_again(struct request *req, const struct gateway_access *access,
                                  const struct managed_resource *resource,
                                  const struct gateway_question *asked, const char **ret_why);

/*
 * Turn a denial into a failure, and write its audit row, with the outcome `denied`; a summary in
 * req->audit must be there before. If policy says step_up: AZ_INSUFFICIENT_SCOPE, with a challenge
 * that names all scopes of the operation, for MCP with those that the token has
 * (gateway-admin.md 1.3). Otherwise AZ_FORBIDDEN. The body is req->error_body, which the caller may
 * replace: {error, error_description, request_id} with `scope` or `deny_reasons`.
 */
enum az_status gateway_refuse(struct request *req, const struct gateway_access *access,
                              const struct gateway_question *question,
                              const struct gateway_decision *decision);

/* Return the codes of reasons, once each, separated by spaces; on mem, or NULL if out of memory. */
const char *gateway_codes(TALLOC_CTX *mem, const json_t *reasons);

/* Fail with AZ_NOT_FOUND and words for a mistyped name: they lead to the MCP endpoint of all
 * resources, and name none. */
enum az_status gateway_unknown(struct request *req);

/* Return the address of the metadata document of a resource (RFC 9728 3.1), on mem, or NULL if out
 * of memory. */
char *gateway_metadata_address(TALLOC_CTX *mem, const char *resource);

#endif
