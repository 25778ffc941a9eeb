/* One HTTP request, parsed once (method, path, parameters or JSON body, headers, client address),
 * and its answer. */
#ifndef AZ_HTTP_REQUEST_H
#define AZ_HTTP_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/op.h"
#include "http/response.h"
#include "store/db/rows/audit.h"
#include "store/people/admin_keys.h"

struct route;
struct client;
struct own_token;
struct verdict;
struct dpop;

/* Limits on what a caller can send. The web server has limits of its own, which come first; these
 * hold behind any web server. */

/* Longest request target, in octets: what RFC 9110 4.1 asks every server to read. */
#define HTTP_TARGET_MAX 8000
/* Parameters of one form or query; the longest OAuth request has fewer than 20. */
#define HTTP_PARAMS_MAX 64
/* Longest header that is read, in octets. */
#define HTTP_HEADER_MAX 8192
/* Longest form of the token family, in octets (oauth.md C7). */
#define HTTP_TOKEN_BODY_MAX 65536
/* Longest body of AuthZEN, in octets: 100 evaluations with 600 octets each fit. */
#define HTTP_ACCESS_BODY_MAX 65536
/* Longest JSON body of the admin API, in octets; a data row with 10,000 bindings fits. */
#define HTTP_ADMIN_BODY_MAX 1048576
/* Longest bundle deploy, in octets: 1,000 rules of 6 kB and 1,000 rows of 2 kB fit. The shipped
 * web server configurations let 10 MiB through. */
#define HTTP_DEPLOY_BODY_MAX 8388608
/* Nesting of a JSON body of the admin API. */
#define HTTP_JSON_DEPTH_MAX 32
/* The same where payloads of that depth stand inside a body, a list and an entry. */
#define HTTP_JSON_ENVELOPE_MAX (HTTP_JSON_DEPTH_MAX + 3)
/* The same where schemas of tools stand in the body (managed/document.h). Beyond their own limit is
 * room, so that a schema which is nested too deeply is told by its member. */
#define HTTP_JSON_SCHEMAS_MAX 96
/* {name} segments of one path pattern. */
#define HTTP_PATH_VALUES_MAX 2

/* Variables of a gateway that are none of CGI: HTTP_IO_AUTHORIZER if the web server asks by that
 * role of FastCGI 6.3, and "unix" if it came by a UNIX socket. NULL or another text: neither. */
#define HTTP_IO_ROLE "FCGI_ROLE"
#define HTTP_IO_AUTHORIZER "AUTHORIZER"
#define HTTP_IO_SOCKET "FCGI_SOCKET"

/* A form or query parameter. */
struct http_param {
    const char *name;  /* decoded */
    const char *value; /* decoded, not empty (an empty value counts as absent, oauth.md C4) */
};

/* The gateway that a request comes from and its answer goes to: FastCGI or plain CGI. */
struct http_io {
    void *handle; /* state of the gateway's functions */
    /* Return a gateway variable, or NULL. */
    const char *(*variable)(const struct http_io *io, const char *name);
    /* Read octets of the body; 0 at the end, -1 on error. */
    long (*read)(const struct http_io *io, void *buffer, size_t size);
    bool (*write)(const struct http_io *io, const void *octets, size_t size);
    void (*finish)(const struct http_io *io); /* the answer is complete: send it */
    /* Break the connection off, so that the reader learns that the answer is not complete. NULL:
     * the gateway has no way to do that. */
    void (*cut)(const struct http_io *io);
    /* True if the reader of the answer has gone, so that work for it can end. NULL: there is no way
     * to know. */
    bool (*gone)(const struct http_io *io);
    /* Send what was written and is still held back. NULL: nothing is. */
    bool (*flush)(const struct http_io *io);
    /* Return the descriptor of the connection, and the number of the request on it, if another
     * process may go on with the answer; -1: it may not. The member is NULL if this is never
     * possible. */
    int (*lend)(const struct http_io *io, unsigned *ret_request);
    /* The other process has the connection: finish() leaves it alone. */
    void (*give)(const struct http_io *io);
};

/*
 * The answer to a failure of an authorization request (DIALECT_PAGE): where it goes, and who
 * vouches for the address (decisions.md "Errors at /authorize", RFC 9700 4.11.2). It begins as a
 * page of ours. Handlers set it by the functions at the end of this file, in their order;
 * serve/failure.c alone answers by it.
 */
struct failure_target {
    /* The checked redirect_uri of the client, to which failures go; NULL: a page of ours reports
     * them. Set by failure_to_client(), cleared by failure_to_page(). */
    const char *redirect_uri;
    /* Called before a failure goes to redirect_uri: reads what is not known yet about the client
     * and the user. False: the address does not stand. Set by failure_to_client(). */
    bool (*stands)(struct request *req);
    /* The client came from memory, and redirect_uri with it, so `stands` looks again. Set by
     * failure_to_client(), cleared by failure_client_is_current(). */
    bool remembered;
    /* Nobody vouches for redirect_uri: the failure is a page that names its host and links there.
     * Set by failure_to_client() from the client alone, and by failure_judge() from the session. */
    bool by_link;
    bool judged; /* failure_judge() has set by_link */
    /* The page that reports a failure in place of the redirect, which it offers as a link, or
     * NULL. Its values are on op.mem. Set by failure_show(). */
    const char *page;
    json_t *values;
};

struct request {
    struct op op;              /* memory, process, fault, request id, time */
    int64_t started_us;        /* it began; monotonic, microseconds */
    const struct http_io *io;  /* the gateway it came from */
    const struct route *route; /* the row that answers it */
    const char *method;        /* GET, POST, ... */
    const char *path;          /* raw path below the issuer's own path, without query */
    const char *query;         /* raw query, "" if there is none */
    const char *path_value[HTTP_PATH_VALUES_MAX]; /* decoded {name} segments, in order */
    struct http_param param[HTTP_PARAMS_MAX];     /* parameters of the form or query */
    size_t params;                                /* used entries of param */
    /* Rows that keep faults: the parameter was sent twice, so it has no value. */
    bool param_repeated[HTTP_PARAMS_MAX];
    const char *allow;             /* methods of the path if only the method is wrong */
    json_t *json;                  /* JSON body, owned by op.mem */
    const char *body;              /* raw body, NUL-terminated */
    size_t body_length;            /* octets */
    const char *ip;                /* client address by SVC_TRUSTED_PROXY_COUNT, NULL if unknown */
    const char *user_agent;        /* cut to AUDIT_USER_AGENT_MAX, or NULL */
    struct client *client;         /* set by the client credential */
    const char *client_method;     /* token_endpoint_auth_method by which it authenticated */
    bool assertion_used;           /* the request used up the jti of its client assertion */
    const struct own_token *token; /* set by the credential of our own resource endpoints */
    const struct dpop
        *dpop; /* the DPoP proof (oauth/dpop/dpop.h), or NULL if none was sent or read */
    /* The admin key, or whoever stands in its place (admin/credential.h), set by the admin
     * credential. Id and subject are NULL if there is neither key nor person. */
    struct admin_key admin;
    bool admin_by_session;  /* a session of the console says so */
    const char *ui_locales; /* languages that the client asks for (OpenID Connect Core 3.1.2.1) */
    json_t *error_body;     /* replaces the dialect's body of a failure; owned by op.mem */
    bool error_is_empty;    /* the answer to a failure has no body */
    const char *challenge;  /* WWW-Authenticate of a 401, set by the credential */
    const char *dpop_challenge;    /* a second WWW-Authenticate beside it, or NULL */
    struct failure_target failure; /* DIALECT_PAGE: where a failure goes */
    const char *state;             /* sent back with a failure; NULL: the client sent none */
    const char *repeated;    /* rows that keep faults: the first parameter that was sent twice */
    const char *param_fault; /* rows that keep faults: the first other fault, as public text */
    /* The request showed what a stranger does not have: the secret of a client, an admin key, or a
     * code, token, cookie or state whose row was found. Without that it leaves no audit row, unless
     * it asks policy or changes something (dispatch.c). */
    bool proved;
    bool leaves_row;          /* a rule of policy refused it: it leaves an audit row on any route */
    struct audit_entry audit; /* the audit row so far */
    /* Adds to the row what is made when it is written, because another decision may stand there by
     * then; or NULL. */
    void (*audit_more)(struct request *req);
    struct verdict *asked; /* evaluation 2, which it packs; on op.mem */
    bool audited;          /* the handler wrote the audit row with its own write */
    uint64_t trips;        /* count of trips to the database when the request began */
    struct response res;   /* the answer */
};

/*
 * Read everything but the body from the gateway variables: method, target (REQUEST_URI, raw),
 * headers, address, request id. AZ_INVALID_REQUEST: the target has bad characters.
 * AZ_TARGET_TOO_LONG: it is longer than HTTP_TARGET_MAX; the path is set, so that the row of the
 * path decides how the failure is answered.
 */
enum az_status request_read_head(struct request *req, const struct http_io *io);

/* Return the value of a header by its CGI name (HTTP_X_REQUEST_ID); NULL: absent or longer than
 * HTTP_HEADER_MAX. */
const char *request_header(const struct request *req, const char *cgi_name);

/* Return the first value of a parameter; NULL: absent, or sent twice to a row that keeps faults. */
const char *request_param(const struct request *req, const char *name);

/* True if a parameter that may be sent once was sent more often (rows that keep faults). */
bool request_param_repeated(const struct request *req, const char *name);

/* True if a proxy passed the request on that SVC_TRUSTED_PROXY_COUNT does not count: then req->ip
 * may be the address of the proxy, and every caller has it. */
bool request_has_unnamed_proxy(const struct request *req);

/* True if the address, which is one of this server, can be requested: its target is within
 * HTTP_TARGET_MAX. The parameters of a form may be longer than that. */
bool request_target_fits(const char *url);

/*
 * Fill the part of the audit entry that is the same for every endpoint. A handler that writes its
 * audit row together with its own write calls this first and sets req->audited.
 */
void request_fill_audit(struct request *req, int http_status, const char *outcome);

/* ---- where a failure goes */

/* Send failures from here on to the client. Called where the redirect_uri was checked against the
 * client's row (oidc/flow_client.c). */
void failure_to_client(struct request *req, const struct failure_target *target);

/* Report failures from here on by a page: before a client is known (oidc/flow_client.c), when the
 * client has its answer already (oidc/callback.c), and when it has no row (oidc/flow.c). A page
 * that failure_show() named stays. */
void failure_to_page(struct request *req);

/* Note that the client's row was read or compared since it was remembered
 * (oidc/flow_preview.c). */
void failure_client_is_current(struct request *req);

/* Decide whether the user has to follow a link to redirect_uri, once the session is known
 * (oidc/flow_client.c). */
void failure_judge(struct request *req, bool by_link);

/* Name the page that reports the failure (oidc/choose.c). */
void failure_show(struct request *req, const char *page, json_t *values);

#endif
