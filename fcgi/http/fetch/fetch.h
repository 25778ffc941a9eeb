/*
 * Requests to servers that others name: identity providers, key sets, client metadata. HTTPS only,
 * no redirects, no proxy, the address checked at connect, size and time limited (architecture.md 7,
 * specification 5.6; SSRF: CVE-2026-1180, CVE-2026-4366).
 */
#ifndef AZ_HTTP_FETCH_FETCH_H
#define AZ_HTTP_FETCH_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/op.h"

/* The settings that say which hosts may use plain http or private addresses. */
enum fetch_hosts {
    FETCH_SAFE_HTTP,   /* SVC_SAFE_HTTP_... */
    FETCH_CLIENT_KEYS, /* the same, for addresses that any client can name */
    FETCH_CIMD,        /* SVC_CIMD_...; any client can name these addresses too */
    FETCH_GATEWAY,     /* SVC_GATEWAY_ALLOWED_INSECURE_HOSTS */
};

/* True for addresses that anybody may choose by registering a client: such a fetch must not keep
 * those of the operator waiting. */
static inline bool
fetch_hosts_of_clients(enum fetch_hosts hosts)
{
    return hosts == FETCH_CLIENT_KEYS || hosts == FETCH_CIMD;
}

/* A request. */
struct fetch_request {
    enum fetch_hosts hosts;    /* the settings whose exceptions hold */
    const char *url;           /* absolute, at most URI_MAX octets */
    const char *form;          /* body of a POST, form-urlencoded; NULL: a GET */
    const char *json;          /* body of a POST, JSON, instead of a form; or NULL */
    const char *plain;         /* body of a POST, text/plain, instead of a form; or NULL */
    const char *authorization; /* value of the header, secret; or NULL */
    const char *field;         /* name of that header; NULL: Authorization */
    size_t max_octets;         /* of the answer's body; a longer one is a failure */
    long timeout;              /* seconds for the whole transfer */
    bool secret_path;          /* the path may be a credential: faults have scheme and host alone */
};

/* Longest time to connect to a host that a client names, in seconds. Its name may come from
 * anybody, and addresses that drop packets are the cheapest way to make this service wait. Most
 * hosts answer within a tenth of that, also after one lost packet, which is sent again after 1 s.
 */
#define FETCH_CLIENT_CONNECT_SECONDS 3

/* Reasons why there is no answer. */
enum fetch_fault {
    FETCH_OK,
    FETCH_FAULT_URL,     /* not https, or not a URL */
    FETCH_FAULT_ADDRESS, /* the host is at a private, loopback or other special address */
    FETCH_FAULT_CONNECT, /* refused, no such name, reset */
    FETCH_FAULT_TIMEOUT, /* timed out */
    FETCH_FAULT_TLS,     /* certificate or handshake failed */
    FETCH_FAULT_SIZE,    /* more than max_octets */
    FETCH_FAULT_HTTP,    /* not HTTP */
    FETCH_FAULT_BUSY,    /* no place is free (fetch_places.h), or its host is being asked */
    FETCH_FAULT_OURS,    /* no memory or another fault of this process */
};

/* True for faults of the other host, which is missing, slow, or answers with something else. Faults
 * of this service, and full queues, are not. */
static inline bool
fetch_fault_of_host(enum fetch_fault fault)
{
    return fault != FETCH_OK && fault != FETCH_FAULT_BUSY && fault != FETCH_FAULT_OURS;
}

/* The answer of the server; on op->mem. A redirect is an answer and is not followed. */
struct fetch_answer {
    enum fetch_fault fault;   /* FETCH_OK if there is an answer */
    int status;               /* HTTP status code */
    const char *content_type; /* without parameters, in lower case; or "" */
    const char *challenge;    /* the first WWW-Authenticate; "" if there is none */
    const char *body;         /* NUL-terminated */
    size_t length;            /* octets of body */
    int64_t retry_after;      /* seconds of Retry-After (RFC 9110 10.2.3); 0: it does not say */
    int64_t max_age; /* seconds of Cache-Control; -1: it does not say; 0: no-store, no-cache */
};

/* Return the fault of a URL that would not be fetched, before any host is asked: FETCH_FAULT_URL,
 * or FETCH_FAULT_ADDRESS for an IP address that is not public; FETCH_OK: there is none. *ret_host:
 * the host, on op->mem; may be NULL. */
enum fetch_fault fetch_url_fault(struct op *op, enum fetch_hosts hosts, const char *url,
                                 const char **ret_host);

/* Return the words for such a fault, for the operator: what is wrong, and the settings that allow
 * it. */
const char *fetch_url_why(enum fetch_hosts hosts, enum fetch_fault fault);

/* Send the request. AZ_OK: an answer of any status. AZ_UNAVAILABLE: no answer, with the reason in
 * the fault and in ret->fault; AZ_BUSY: FETCH_FAULT_BUSY, the host was not asked. Nothing of
 * `authorization` or `form` reaches the fault or a log. */
enum az_status fetch(struct op *op, const struct fetch_request *request, struct fetch_answer *ret);

#endif
