/* The shape of a row of the routing table (routes.c) and the dispatcher that does everything a row
 * declares. */
#ifndef AZ_HTTP_ROUTE_H
#define AZ_HTTP_ROUTE_H

#include "http/request.h"

/* How the body is read. */
enum route_body {
    BODY_NONE,          /* ignored */
    BODY_FORM,          /* application/x-www-form-urlencoded; faults are answered */
    BODY_FORM_LENIENT,  /* the same, but faults leave the request without parameters (/revoke) */
    BODY_JSON,          /* application/json or +json, an object */
    BODY_JSON_OPTIONAL, /* the same; no body is fine */
    BODY_JSON_ENVELOPE, /* as BODY_JSON, with payloads of data rows inside: nested so much deeper */
    BODY_RAW,           /* octets within body_max; the handler reads them */
    BODY_QUERY,         /* no body; parameters come from the query */
    BODY_QUERY_FAULTS,  /* the same, but faults are kept in the request for the handler */
    BODY_FORM_FAULTS,   /* a form, the same way (/authorize) */
};

/* How a failure is written. */
enum route_dialect {
    DIALECT_OAUTH, /* {error, error_description}, 401 with WWW-Authenticate */
    DIALECT_ADMIN, /* specification 7.2: empty 404, fieldErrors, own 401 */
    DIALECT_BARE,  /* {error, error_description} without OAuth headers */
    DIALECT_PAGE,  /* a redirect to req->error_redirect (RFC 6749 4.1.2.1), else an HTML page */
};

/* Which cache headers every answer of the row carries. */
enum route_cache {
    CACHE_NONE,     /* none */
    CACHE_NO_STORE, /* Cache-Control: no-store, Pragma: no-cache */
    CACHE_PRIVATE,  /* Cache-Control: no-store alone */
    CACHE_OWN,      /* the handler says */
};

/* A parameter a row accepts. Unknown ones are ignored; known ones come once unless repeatable (RFC
 * 6749 3.2). */
struct route_param {
    const char *name; /* parameter name; NULL ends the list */
    bool repeatable;  /* resource and audience */
};

/* What a caller must show. The function sets req->client or req->admin_label, or fails. */
struct route_credential {
    const char *name;                             /* for the documentation of the table */
    enum az_status (*check)(struct request *req); /* NULL: nothing is asked */
    bool before_body; /* it is in a header: who fails is refused before the body is read */
};

struct route {
    const char *method;                        /* GET, POST, ... */
    const char *path;                          /* pattern: fixed segments and {name} */
    const char *operation;                     /* OpenAPI operationId, also in the audit row */
    const struct route_credential *credential; /* who may come in */
    enum az_status (*precheck)(
        struct request *req); /* rule that comes before the credential, or NULL */
    enum az_status (*handle)(struct request *req); /* the endpoint */
    enum route_body body;                          /* how the body is read */
    const struct route_param *params; /* accepted parameters of forms and queries, or NULL */
    size_t body_max;                  /* octets */
    enum route_dialect dialect;       /* how failures look */
    enum route_cache cache;           /* cache headers */
    bool rate_limited;                /* counted per client address (specification 8) */
    bool audited;                     /* leaves an audit row */
    bool cors;                        /* pages of any origin may call it, without cookies (Fetch) */
};

/* THE routing table; the last row has path NULL. */
extern const struct route routes[];

/* Prefixes below which unknown paths ask for the credential before they answer 404; the last row
 * has path NULL. */
extern const struct route route_guards[];

/* Where a request comes from and its answer goes: FastCGI or plain CGI. */
struct http_io {
    void *handle; /* FCGX_Request, or NULL for CGI */
    const char *(*variable)(const struct http_io *io, const char *name); /* gateway variable */
    long (*read)(const struct http_io *io, void *buffer,
                 size_t size); /* body octets; 0 at the end, -1 on error */
    bool (*write)(const struct http_io *io, const void *octets, size_t size);
    void (*finish)(const struct http_io *io); /* the answer is complete: send it off */
};

/* Answers one request from parse to log line. */
void dispatch(struct az *az, const struct http_io *io);

/*
 * Fills the audit entry's part that is the same for every endpoint; a handler that writes its audit
 * row together with its own write calls this first and sets req->audited.
 */
void request_fill_audit(struct request *req, int http_status, const char *outcome);

/* The row for a method and raw path. When only the method is wrong: NULL, with the path's first row
 * in *ret_other and its methods in *ret_allow. */
const struct route *route_find(TALLOC_CTX *mem, const char *method, const char *path,
                               const char **values, const struct route **ret_other,
                               const char **ret_allow);

#endif
