/* A wish for a document while it is being answered, shared by documents.c and document_fetch.c. */
#ifndef AZ_HTTP_FETCH_DOCUMENTS_PRIVATE_H
#define AZ_HTTP_FETCH_DOCUMENTS_PRIVATE_H

#include "http/fetch/documents.h"
#include "store/clients/documents.h"

/* Nesting of a document: metadata and key sets have 3 or 4 levels. */
#define DOCUMENT_DEPTH_MAX 16
/* Documents of clients that are kept; most have about 1 kB. */
#define DOCUMENTS_MAX 10000

/* Limits of one kind of document. */
struct limits {
    const char *word;       /* its name in the database */
    enum fetch_hosts hosts; /* the settings whose exceptions hold */
    size_t max_octets;      /* of a document */
    long timeout;           /* of a fetch, seconds */
    int64_t least, most;    /* shortest and longest life, in seconds */
    int64_t grace;          /* longer life while it cannot be fetched, in seconds */
    int64_t again;          /* seconds between two fetches before its time */
    long pause;             /* seconds for which the host is not asked after a failed fetch */
    long pause_away;        /* the same after it timed out or refused the connection */
    int64_t (*refresh_hint)(const json_t *document); /* lifetime in seconds according to the
                                                        document, or -1; NULL: use Cache-Control */
    bool (*is_older)(const json_t *document, const json_t *before); /* NULL: the newest fetched one
                                                                       counts */
    bool bounded; /* any client can name one, so DOCUMENTS_MAX applies */
};

/* State of one document_get(). */
struct wanted {
    struct op *op;
    struct limits limits;
    const char *url;
    const char *host; /* of the URL */
    document_check_fn *check;
    int64_t began; /* clock_monotonic_ms() */
    struct document_wish wish;
    struct document_look look;
    enum fetch_fault fault;
    struct document document;
};

/* Parse and check a document. AZ_UNAVAILABLE: it is not a JSON object; another status: `check`
 * returned it. */
enum az_status wanted_read(struct wanted *wanted, const char *body, size_t length, json_t **ret);

/* Remember a document for `seconds`, counted from before the database was asked. */
void wanted_remember(const struct wanted *wanted, int64_t seconds);

/* Take the document that the database keeps. False: there is none, or it does not pass the check.
 */
bool wanted_take_kept(struct wanted *wanted);

/* The kept document passed an earlier check, or another caller's, but not this one: accept only
 * what is fetched later. */
void wanted_newer(struct wanted *wanted);

/* Return a failure as text for the workers that wait for it: status, fetch_fault and public text in
 * the first line, the operator's text below. In ASCII, because a detail may quote octets that the
 * database refuses. */
const char *wanted_failure_dump(const struct wanted *wanted);

/* Fail as the fetch that we waited for failed; to ask the host again would be in vain. */
enum az_status wanted_failure_take(struct wanted *wanted);

/* Fail for a reason of the fetch, in words for the operator. */
enum az_status wanted_fail(struct wanted *wanted, enum fetch_fault fault, const char *why);

/* With a place taken: fetch, or wait for the worker that does. Another document of the host is
 * waited for as long as a place: its host may be slow, and the place is for others. */
enum az_status wanted_fetch_or_wait(struct wanted *wanted);

#endif
