/*
 * A request to the admin API, over two carriers: with --server to the service at that URL, else to
 * the dispatcher of the service in this process, on the database. A verb does not see which.
 */
#ifndef AZ_CLI_LIB_CALL_H
#define AZ_CLI_LIB_CALL_H

#include <jansson.h>

#include "base/query.h"
#include "cli/lib/cli.h"

/* Longest answer that is kept, in octets: the limit of the service for an answer. */
#define CALL_ANSWER_MAX (64 << 20)
/* Longest head of an answer, in octets. */
#define CALL_HEAD_MAX (64 << 10)
/* Nesting of an answer, and of a member from a file: that of a body with schemas, and room. */
#define CALL_DEPTH_MAX 112

struct call {
    const char *method;             /* GET, POST, ... */
    const char *path;               /* below the issuer: /admin/api/clients, already escaped */
    const struct query_pair *query; /* parameters, without a value left out */
    size_t queries;                 /* number of them */
    json_t *body;                   /* JSON, borrowed, or NULL */
    const char *if_match;           /* value of If-Match, or NULL */
    /* Returns the option or argument that sets a member of the body, as the user writes it, or NULL
     * if there is none. NULL: errors name members alone. */
    const char *(*source)(const struct cli *cli, const char *member);
    /* Takes the body of a good answer as it comes, in place of ret->text; false ends the call.
     * NULL: it is kept. */
    bool (*take)(void *arg, const void *octets, size_t length);
    void *take_arg; /* of take */
    long seconds;   /* limit for the whole answer; 0: that of a save */
};

/* The answer; on cli->mem. */
struct answer {
    int status;       /* HTTP status */
    const char *head; /* lines of the head, each ended by CR LF */
    const char *text; /* body, NUL-terminated */
    size_t length;    /* octets of text */
    json_t *json;     /* the body, if it is JSON; NULL otherwise */
};

/* Send a request and read the answer. CLI_OK: there is an answer, of any status; otherwise the
 * error was printed. */
int call_send(struct cli *cli, const struct call *call, struct answer *ret);

/* Send a request and refuse an answer other than 2xx with its texts. `missing` is printed for 404.
 * Returns the exit status. */
int call_run(struct cli *cli, const struct call *call, const char *missing, struct answer *ret);

/* Print why an answer is no good one; returns the exit status. */
int call_refuse(const struct cli *cli, const struct answer *answer, const char *missing);

/* Return the value of a header of the answer, or NULL. On cli->mem. */
const char *call_header(const struct cli *cli, const struct answer *answer, const char *name);

/* Return a path segment with all but the unreserved characters of RFC 3986 escaped. On mem. */
char *call_escape(TALLOC_CTX *mem, const char *text);

/* Check --server and read the admin key. Returns the exit status. */
int call_prepare(struct cli *cli);

/* ---- for the carriers */

/* An answer that is coming in. */
struct arrival {
    struct cli *cli;
    const struct call *call;
    const char *body;   /* of the request, or NULL */
    const char *target; /* path and query */
    int status;         /* 0: not known yet */
    char *head;         /* lines so far */
    size_t head_length; /* octets of head */
    char *text;         /* kept octets */
    size_t length;      /* octets of text */
    bool ended;         /* the head is complete */
    bool too_large;     /* a limit was passed, or there is no memory */
    bool cut;           /* the answer broke off */
    bool stopped;       /* `take` refused further octets */
};

/* Take octets of the head, without the empty line that ends it, or of the body. Return false to
 * stop the transfer. */
bool arrival_head(struct arrival *arrival, const char *octets, size_t length);
bool arrival_body(struct arrival *arrival, const void *octets, size_t length);

/* Carry the request. CLI_OK: *arrival has an answer; otherwise the error was printed. */
int call_local(struct arrival *arrival);
int call_remote(struct arrival *arrival);

#endif
