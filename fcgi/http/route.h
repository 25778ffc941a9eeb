/* The rows of the routing table (routes.c). The dispatcher (dispatch.h) does everything that a row
 * declares. A member that a row does not name is zero: no body, the bare dialect, no cache headers,
 * not limited, not audited, closed to other origins. */
#ifndef AZ_HTTP_ROUTE_H
#define AZ_HTTP_ROUTE_H

#include "base/json/fields.h"
#include "http/request.h"

/* Ways to read the body. */
enum route_body {
    BODY_NONE,          /* ignored */
    BODY_FORM,          /* application/x-www-form-urlencoded; faults are answered */
    BODY_FORM_LENIENT,  /* a form; faults leave the request without parameters (/revoke) */
    BODY_JSON,          /* application/json or +json, an object */
    BODY_JSON_OPTIONAL, /* the same, or no body */
    BODY_JSON_ENVELOPE, /* an object that holds payloads of data rows, so it may nest deeper */
    BODY_JSON_SCHEMAS,  /* an object that holds JSON Schemas: deeper again */
    BODY_RAW,           /* octets within body_max; the handler reads them */
    BODY_QUERY,         /* no body; parameters come from the query */
    BODY_QUERY_FAULTS,  /* the same; faults are kept in the request for the handler */
    BODY_FORM_FAULTS,   /* a form; faults are kept in the request for the handler (/authorize) */
    BODY_STREAM,        /* left unread: the handler opens it (http/form.h) */
};

/* Ways to write a failure. */
enum route_dialect {
    DIALECT_BARE,    /* {error, error_description} without OAuth headers */
    DIALECT_OAUTH,   /* {error, error_description}, 401 with WWW-Authenticate */
    DIALECT_GATEWAY, /* the same with request_id; req->error_body replaces any body */
    DIALECT_ADMIN,   /* specification 7.2: empty 404, fieldErrors, own 401 */
    DIALECT_PAGE,    /* a redirect by req->failure (RFC 6749 4.1.2.1), else an HTML page */
};

/* Cache headers of every answer of the row. */
enum route_cache {
    CACHE_NONE,     /* none */
    CACHE_NO_STORE, /* Cache-Control: no-store, Pragma: no-cache */
    CACHE_PRIVATE,  /* Cache-Control: no-store alone */
    CACHE_OWN,      /* set by the handler */
};

/* Pages of other origins that may call a row, without cookies (Fetch). */
enum route_cors {
    CORS_CLOSED, /* none: browsers hide the answer */
    CORS_OPEN,   /* any */
    CORS_LISTED, /* those of SVC_GATEWAY_ALLOWED_ORIGINS; any other Origin is 403 */
};

/* A parameter that a row accepts. Unknown parameters are ignored; a known one may appear once,
 * unless it is repeatable (RFC 6749 3.2). */
struct route_param {
    const char *name; /* parameter name; NULL ends the list */
    bool repeatable;  /* may appear more than once: resource and audience */

    /* The rest is for the description of the interface (http/api). The handler checks the value,
     * and refuses a request without a required parameter. */
    bool required;
    int64_t min, max;         /* range of an integer; a max of 0: a text */
    const char *const *words; /* the texts that are accepted, ending with NULL; NULL: any */
    const char *help;         /* meaning, for a person; NULL: the name says it */
};

/* The credential that a caller must show. The check sets req->client or req->admin, or
 * fails. */
struct route_credential {
    enum az_status (*check)(struct request *req); /* NULL: no credential needed */
    bool before_body; /* it is in a header: a caller without it is refused unread */
    /* Names of its ways (http/api/document.c), ending with NULL; "": in the form, or none. */
    const char *const *schemes;
};

/* The status is that of another server: `default` in OpenAPI. */
#define ROUTE_ANY_STATUS 1

/* A good answer of a row, for the description of the interface. */
struct route_answer {
    int status;                      /* HTTP status, or ROUTE_ANY_STATUS; 0 ends the list */
    const char *type;                /* media type; NULL: no body */
    const struct field_table *shape; /* members of the JSON object; NULL: not described */
    bool many;                       /* an array of such objects */
    const char *help;                /* meaning, for a person */
};

/* The credential of rows that need none. Every row names its credential. */
extern const struct route_credential credential_none;

struct settings;

struct route {
    const char *method; /* GET, POST, ... */
    const char *path;   /* pattern: fixed segments and {name}, perhaps a final ** */
    bool (*is_on)(const struct settings *cfg); /* the row is there; NULL: always */
    const char *operation;                     /* OpenAPI operationId, also in the audit row */
    const struct route_credential *credential; /* never NULL */
    enum admin_role role; /* least role of an admin key; ADMIN_ROLE_NONE: as ADMIN_ROLE_OWNER */
    enum az_status (*precheck)(
        struct request *req); /* runs when the body is read, before a credential in it, or NULL */
    enum az_status (*handle)(struct request *req); /* the endpoint */
    enum route_body body;                          /* how the body is read */
    const struct route_param *params; /* accepted parameters of forms and queries, or NULL */
    const struct route_param *(*find_param)(const char *name); /* in place of params, or NULL */
    size_t body_max;                                           /* octets */
    enum route_dialect dialect;                                /* how failures are written */
    enum route_cache cache;                                    /* cache headers */
    enum az_status wrong_method; /* failure of other methods; AZ_OK: AZ_METHOD_NOT_ALLOWED */
    bool slash; /* a slash at the end of the path is taken too: people and clients write one behind
                   the address of an MCP server, and a redirect would lose the token (Fetch) */
    bool rate_limited;    /* counted per client address (specification 8) */
    bool in_clear;        /* also by plain HTTP from other hosts, with an https issuer */
    bool about_another;   /* X-Forwarded-Proto is of a request that a web server asks about */
    bool audited;         /* an audit row is written */
    enum route_cors cors; /* origins of pages that may call it */
    const void *arg;      /* for the handler: its struct admin_resource or reader_file, or NULL */

    /* The rest is for the description of the interface (http/api). */
    const char *summary;                /* the row in one sentence, without a full stop */
    const struct field_table *fields;   /* members of a JSON body */
    const struct route_answer *answers; /* good answers; NULL: not described */
    json_t *(*body_schema)(void);       /* in place of params or fields: JSON Schema of the body */
};

/* THE routing table. */
extern const struct route routes[];
extern const size_t routes_count;

/* The row of every request by the FastCGI role of an authorizer, whatever its target: a good answer
 * of another row would let the request through that the web server asks about. */
extern const struct route route_authorizer;

/* Rows whose path is a prefix: unknown paths below it ask for the credential before they answer
 * 404. */
extern const struct route route_guards[];
extern const size_t route_guards_count;

#endif
