/* A request through the proxy, shared by proxy.c and proxy_answer.c. */
#ifndef AZ_GATEWAY_PROXY_PROXY_PRIVATE_H
#define AZ_GATEWAY_PROXY_PROXY_PRIVATE_H

#include "gateway/caller.h"
#include "gateway/door.h"
#include "gateway/upstream/credential.h"
#include "gateway/upstream/fields.h"
#include "gateway/upstream/upstream_call.h"
#include "http/form.h"
#include "managed/choose.h"
#include "managed/managed.h"

struct proxied {
    struct request *req;
    struct gateway_access access;
    const struct managed_resource *resource;
    struct managed_choice choice;
    const struct managed_route *route;      /* of the choice */
    struct gateway_question question;       /* that was asked about the request */
    bool linked;                            /* for the question */
    struct gateway_obligations obligations; /* of policy and of the route together */
    struct body_stream body;                /* of the request, while it is read */
    struct upstream_field_list fields;      /* of the caller */
    struct upstream_caller caller;
    struct gateway_bearer holder; /* for the caller */
    bool (*gone)(void *holder);   /* the original `gone` of the caller, which proxy.c replaced */
    struct upstream_call call;
    struct upstream_credential credential; /* names the link, if one is needed */
    struct upstream_transfer *transfer;    /* while the answer is streamed */
    int64_t passed;                        /* octets of it */
    int64_t look_ms;                       /* clock_monotonic_ms() of the next look; 0: unset */
    int unsure;                            /* looks in a row that found nothing out */
    struct upstream_answer *answer;
};

/* True if the whole answer must be read before any of it is passed on, because it is read as JSON.
 */
bool proxy_wants_memory(const struct proxied *proxied);

/* Answer with what the route of a STATIC resource says. */
enum az_status proxy_answer_static(struct proxied *proxied);

/* Send the request and answer with the whole answer, checked and redacted. */
enum az_status proxy_answer_memory(struct proxied *proxied);

/* Send the request and pass the answer on as it arrives. */
enum az_status proxy_answer_stream(struct proxied *proxied);

/*
 * Answer the preflight request of a page (Fetch, "CORS-preflight request") to a resource with
 * `cors`: 204, without a token, an upstream or an audit row. *ret_done false: the request is no
 * preflight, or the resource has no `cors`, so an OPTIONS is a call like others.
 */
enum az_status proxy_preflight(struct request *req, bool *ret_done);

/* Let a page of a listed origin read the answer, a refusal too. Once, before the answer begins;
 * `resource` NULL: it was not read, and is read if the request has an Origin. */
void proxy_let_read(struct request *req, const struct managed_resource *resource);

#endif
