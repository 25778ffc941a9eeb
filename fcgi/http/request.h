/* One HTTP request, parsed once: method, path, parameters or JSON body, headers, client address;
 * and its answer. */
#ifndef AZ_HTTP_REQUEST_H
#define AZ_HTTP_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/op.h"
#include "store/db/audit.h"

struct route;
struct client;
struct http_io;

/* Limits on what a caller can send. The web server's own limits come first; these hold whatever
 * stands in front. */
#define HTTP_PATH_MAX                                                                              \
    4096 /* octets of the request target; a clientId of 256 characters escaped fits */
#define HTTP_PARAMS_MAX                                                                            \
    64 /* parameters of one form or query; the longest OAuth request has under 20 */
#define HTTP_HEADER_MAX 8192      /* octets of one header we read */
#define HTTP_TOKEN_BODY_MAX 65536 /* octets of a token-family form (oauth.md C7) */
#define HTTP_ADMIN_BODY_MAX                                                                        \
    1048576 /* octets of an admin JSON body: a data row with 10,000 bindings fits */
#define HTTP_DEPLOY_BODY_MAX                                                                       \
    8388608 /* octets of a bundle deploy: 1,000 rules of 6 kB and 1,000 rows of 2 kB fit; the web  \
               servers' configurations let 10 MiB through */
#define HTTP_ANSWER_MAX                                                                            \
    (64 << 20) /* octets of an answer's body: that of a bundle, ARCHIVE_MAX before compression */
#define HTTP_JSON_DEPTH_MAX 32 /* nesting of an admin JSON body */
#define HTTP_JSON_ENVELOPE_MAX                                                                     \
    (HTTP_JSON_DEPTH_MAX + 3)  /* the same around payloads that are as deep: body, list, entry */
#define HTTP_PATH_VALUES_MAX 2 /* {name} segments of one pattern */
#define HTTP_HEADERS_MAX 16    /* headers of one answer */
#define HTTP_LOCATION_MAX                                                                          \
    8000 /* octets of a redirect's target: Apache reads header lines of 8 KiB from a gateway */

/* A form or query parameter. */
struct http_param {
    const char *name;  /* decoded */
    const char *value; /* decoded, not empty (an empty value counts as absent, oauth.md C4) */
};

/* A header of the answer. */
struct http_header {
    const char *name;  /* as sent */
    const char *value; /* without CR or LF */
};

/* The answer. */
struct response {
    int status;               /* 0 = not answered yet */
    const char *content_type; /* NULL when there is no body */
    const char *body;         /* on the request's memory */
    size_t length;            /* octets of body */
    struct http_header
        header[HTTP_HEADERS_MAX]; /* besides Status, Content-Type and the row's own */
    size_t headers;               /* used */
};

struct request {
    struct op op;              /* memory, process, fault, request id, time */
    const struct http_io *io;  /* where it came from */
    const struct route *route; /* the row that answers it */
    const char *method;        /* GET, POST, ... */
    const char *path;          /* raw path below the issuer's own path, without query */
    const char *query;         /* raw query, "" if none */
    const char *path_value[HTTP_PATH_VALUES_MAX]; /* decoded {name} segments in order */
    struct http_param param[HTTP_PARAMS_MAX];     /* form parameters (or query ones, by the row) */
    size_t params;                                /* used */
    bool param_repeated[HTTP_PARAMS_MAX]; /* rows that keep faults: came twice, no value counts */
    const char *allow;                    /* methods of the path when only the method is wrong */
    json_t *json;                         /* JSON body, owned by op.mem */
    const char *body;                     /* raw body, NUL-terminated */
    size_t body_length;                   /* octets */
    const char *ip;         /* client address by SVC_TRUSTED_PROXY_COUNT, NULL if unknown */
    const char *user_agent; /* cut to AUDIT_USER_AGENT_MAX, or NULL */
    struct client *client;  /* set by the client credential */
    const char
        *client_method; /* how it authenticated: client_secret_basic, client_secret_post, none */
    const char *admin_label; /* set by the admin credential: who acts */
    json_t
        *error_body; /* replaces the dialect's body of a failure (422 details), owned by op.mem */
    const char *challenge; /* WWW-Authenticate of a 401, set by the credential */
    const char
        *error_redirect; /* DIALECT_PAGE: failures go to this checked redirect_uri; NULL: page */
    bool (*redirect_stands)(struct request *req); /* asked before one goes there, when the check
                                                     rests on a remembered row; NULL: it stands */
    const char *state;                            /* given back with it; NULL: none was sent */
    const char *repeated;     /* rows that keep faults: the first parameter that came twice, */
    const char *param_fault;  /* and the first fault of another kind, as public text */
    struct audit_entry audit; /* what the audit row will say */
    bool audited;             /* the handler wrote the audit row with its own write */
    struct response res;      /* the answer */
};

/*
 * Reads everything but the body from the gateway variables: method, target (REQUEST_URI, raw),
 * headers, address, request id. AZ_INVALID_REQUEST (fault set) for a target that is too long or has
 * bad characters.
 */
enum az_status request_read_head(struct request *req, const struct http_io *io);

/* Reads the body as the row says: form, JSON or none. Records the fault it finds. */
enum az_status request_read_body(struct request *req);

/* Value of a header (CGI name, HTTP_X_REQUEST_ID), NULL when absent. */
const char *request_header(const struct request *req, const char *cgi_name);

/* First value of a parameter, NULL when absent, or repeated on a row that keeps faults. */
const char *request_param(const struct request *req, const char *name);

/* Whether a parameter that may come once came more often (rows that keep faults). */
bool request_param_repeated(const struct request *req, const char *name);

/* Parses application/x-www-form-urlencoded text into req->param by the row's parameter table. */
enum az_status request_parse_form(struct request *req, const char *text, size_t length);

/* Percent-decodes (and `+` as space when form); NULL for a lone %, NUL or text that is not UTF-8.
 */
char *request_url_decode(TALLOC_CTX *mem, const char *text, size_t length, bool form);

/* Answers with JSON (not owned). AZ_SERVER_ERROR when json is NULL: it could not be built. */
enum az_status respond_json(struct request *req, int status, json_t *json);

/* The same with JSON that is a text already (the database made it). */
enum az_status respond_json_text(struct request *req, int status, const char *json);

/* Answers without a body. */
enum az_status respond_empty(struct request *req, int status);

/* Answers with octets that live on the request's memory. AZ_SERVER_ERROR: more than
 * HTTP_ANSWER_MAX. */
enum az_status respond_octets(struct request *req, int status, const char *content_type,
                              const void *body, size_t length);

/* Sends the browser on: 302 with Location (never 307, which would send a form again). The row says
 * the cache header. The URL is copied; ours is wiped after the answer (it may hold a code).
 * AZ_SERVER_ERROR: longer than HTTP_LOCATION_MAX, or a control character in it. */
enum az_status respond_redirect(struct request *req, const char *url);

/* Adds a header; a value with a control character is dropped whole (response splitting). */
void respond_header(struct request *req, const char *name, const char *value);

/* True and added to error_body {"error":..,"fieldErrors":{..}} style answers: see admin dialect. */
void request_field_error(struct request *req, const char *field, const char *message);

/* The same as a field_fault_fn (base/fields.h): `req` is the request. */
void request_field_fault(void *req, const char *field, const char *message);

#endif
