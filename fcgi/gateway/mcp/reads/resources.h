/*
 * Resources of MCP upstreams whose `mcpResources` is live (gateway-admin.md 1.6), and routes with
 * `mcpResource` (routes.h). Resources of upstreams are read with the caller's credential, decided
 * one by one, and not stored. At /gateway/mcp their URIs carry the name of the managed resource
 * (scoped_uri.h). A read is made as a get of a prompt is (prompts.h).
 */
#ifndef AZ_GATEWAY_MCP_READS_RESOURCES_H
#define AZ_GATEWAY_MCP_READS_RESOURCES_H

#include "gateway/caller.h"
#include "gateway/mcp/ask/round.h"
#include "gateway/mcp/message/exchange.h"
#include "gateway/mcp/peer/peer.h"

/* Most entries of one list. Models cannot use more, and one question to policy covers all of them.
 */
#define RESOURCES_MAX 1000
/* Octets of the entries of one list as JSON text, so that the question about them fits. */
#define RESOURCES_OCTETS_MAX (256 << 10)
/* Pages of the upstream that one list is made of. */
#define RESOURCES_PAGES_MAX 10
/* Contents of one read; a directory has some. */
#define RESOURCE_CONTENTS_MAX 100
/* Completions of one answer (MCP, completion). */
#define COMPLETIONS_MAX 100
/* Octets of the name of an argument to complete, and of what the person has typed: a client sends
 * it again with each key. */
#define COMPLETION_NAME_MAX 256
#define COMPLETION_VALUE_MAX 4096

/* Find out if the endpoint of this request has MCP resources: its managed resource has, or one of
 * all enabled ones. */
enum az_status mcp_serves_resources(struct mcp_exchange *it, bool *ret);

/* Find the managed resource of a URI or template (or NULL) as clients of this endpoint write it,
 * and the URI that the upstream has. *ret is NULL if there is no such resource. */
enum az_status resource_of_uri(struct mcp_exchange *it, const char *text,
                               const struct managed_resource **ret, const char **ret_uri);

/* Handle resources/list, resources/templates/list, resources/read and completion/complete. */
enum az_status mcp_list_resources(struct mcp_exchange *it);
enum az_status mcp_list_templates(struct mcp_exchange *it);
enum az_status mcp_read_resource(struct mcp_exchange *it);
enum az_status mcp_complete(struct mcp_exchange *it);

/* Find out if the caller may learn of changes of a URI at the upstream of a resource: policy is
 * asked as for a read, with `subscribe` among the arguments. *ret_revision is the policy's
 * revision, or NULL if the caller may not. */
enum az_status mcp_may_watch_resource(struct mcp_exchange *it,
                                      const struct managed_resource *resource, const char *uri,
                                      const char **ret_revision);

/* A request to an upstream, for the caller of the request. */
struct resource_ask {
    struct gateway_bearer holder;
    struct upstream_caller caller;
    struct peer_request request;
    struct peer_reply reply;
    int64_t began_ms; /* monotonic; 0: the upstream was not asked */
};

/* Begin, without a request; *ret stays where it is. */
void resource_ask_begin(struct mcp_exchange *it, const struct managed_resource *resource,
                        const char *method, struct resource_ask *ret);

/* Ask the upstream. AZ_OK without an answer for the caller: ask->reply. A failure of the upstream
 * or of its account becomes the answer, AZ_OK; the gateway's own failures are returned. */
enum az_status resource_ask_upstream(struct mcp_exchange *it, struct resource_ask *ask);

/* Turn the failure of a request to an upstream into the answer, as above. */
enum az_status resource_ask_failed(struct mcp_exchange *it, const struct resource_ask *ask,
                                   enum az_status st);

/* Answer that it failed (text NULL: as the status says), with a status for the audit row. */
enum az_status resource_ask_refuse(struct mcp_exchange *it, enum az_status st, const char *text);

/* One read, get of a prompt, or completion, which is decided and then passed to the upstream. */
struct resource_call {
    struct mcp_exchange *it;
    struct gateway_action action;
    bool prompt;          /* action.name is the name of a prompt, else a URI or template */
    json_t *arguments;    /* object, or NULL */
    json_t *always;       /* obligations of a route, or NULL */
    unsigned obligations; /* obligations that can be met; 0: as for an MCP upstream */
    struct mcp_round round;
    struct gateway_decision decision;
    struct peer_progress progress; /* of a read or get, for a caller that asks for it */
    struct peer_log log;           /* the same */
    struct gateway_target target;
    struct resource_ask ask; /* begun */
};

/* Describe the resource to policy (*ret) and ask. Without scopes of the action the default scope is
 * needed. A denial becomes the answer, AZ_OK. */
enum az_status resource_call_decide(struct resource_call *c, struct gateway_target *ret);

/* Find out if policy allows the call as it is, without an answer to the caller: *ret_revision is
 * the policy's revision, or NULL. The audit row does not change. */
enum az_status resource_call_may(struct resource_call *c, const char **ret_revision);

/* Ask policy what a list would show of these tools or entries, of the call's resource; `verdicts`
 * has room for all. */
enum az_status resource_call_list(struct resource_call *c, const struct gateway_target *target,
                                  const struct gateway_tool *asked, size_t count,
                                  enum gateway_verdict *verdicts);

/* Ask policy, and then the upstream with these params (NULL: out of memory), which are changed.
 * AZ_OK without an answer for the caller: c->ask.reply. The upstream may ask for input before a
 * read or get, but not before a completion (MCP 2026-07-28, multi round-trip requests). The
 * obligations are those that a tool call can meet, except approval: a person approves a tool call
 * only. */
enum az_status resource_call_ask(struct resource_call *c, json_t *params);

/* Note the call for readers of the audit log, without its URI, which may be a person's data
 * (gateway-admin.md 3.8). */
void resource_call_note(struct resource_call *c);

/* True if a URI of a managed resource is in its one spelling (base/uri.h). One with a query is not,
 * unless the resource has resourceQueries, or is of routes, which name their parameters: a server
 * may ignore a query, and a rule about the URI without it would be missed. */
bool resource_uri_is_sound(const struct managed_resource *resource, const char *text);

/* True if a client can expand a template, and its URIs have one spelling, as above: RFC 6570 is
 * ASCII, braces are in pairs, the text around expressions is canonical, no expression makes a
 * fragment, and the template has at most URI_MAX octets. Lists show no other template, and no other
 * is completed. */
bool resource_template_is_sound(const struct managed_resource *resource, const char *text);

/* Answer that there is no such resource: MCP 2026-07-28 has no code of its own for that. */
enum az_status resource_refuse_uri(struct mcp_exchange *it);

/* Answer that there is no such prompt, or none that the caller may know of. */
enum az_status resource_refuse_prompt(struct mcp_exchange *it);

/* Answer that the upstream did not send a valid answer to this method. */
enum az_status resource_ask_invalid(struct mcp_exchange *it);

#endif
