/*
 * A worker that fetches, for t/http/fetch.t and t/http/fetched_documents.t. Settings come from the
 * environment, as those of the service do.
 *
 *   fetcher WORKERS fetch safe|cimd URL MAX_OCTETS TIMEOUT [FORM [AUTHORIZATION]]
 *   fetcher WORKERS document discovery|keys|client_keys|client_metadata URL NOT_BEFORE...
 *   fetcher WORKERS prune
 *
 * With FETCHER_GATE=FILE it makes FILE.PID when it is ready and goes on when FILE exists. WORKERS
 * is the size of the pool `web` that this process belongs to. `document` gets the document once for
 * each NOT_BEFORE; one with the member `bad` never passes the check, and one with `worse` does not
 * pass the check of the second time. Prints one JSON object: the result of the last time, with its
 * trips to the database.
 */
#include "config.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/settings/settings.h"
#include "http/fetch/documents.h"
#include "http/fetch/fetch.h"
#include "process.h"
#include "store/db/db.h"

static const char *const faults[] = {"ok",  "url",  "address", "connect", "timeout",
                                     "tls", "size", "http",    "busy",    "ours"};

static void
print(struct op *op, enum az_status st, enum fetch_fault fault, json_t *more)
{
    json_t *out = json_pack("{s:s, s:i, s:s, s:s}", "fault", faults[fault], "status", (int) st,
                            "public", op->fault.public_text, "detail", op->fault.detail);
    json_object_update(out, more);
    json_dumpf(out, stdout, JSON_COMPACT | JSON_SORT_KEYS);
    putchar('\n');
    json_decref(out);
    json_decref(more);
}

static void
do_fetch(struct op *op, char **word, int count)
{
    struct fetch_request request = {.hosts =
                                        strcmp(word[0], "cimd") == 0 ? FETCH_CIMD : FETCH_SAFE_HTTP,
                                    .url = word[1],
                                    .max_octets = (size_t) atol(word[2]),
                                    .timeout = atol(word[3]),
                                    .form = count > 4 ? word[4] : NULL,
                                    .authorization = count > 5 ? word[5] : NULL};
    struct fetch_answer answer;
    enum az_status st = fetch(op, &request, &answer);
    json_t *more = json_object();
    if (st == AZ_OK) {
        json_object_set_new(more, "http", json_integer(answer.status));
        json_object_set_new(more, "type", json_string(answer.content_type));
        json_object_set_new(more, "length", json_integer((json_int_t) answer.length));
        json_object_set_new(more, "max_age", json_integer(answer.max_age));
        json_object_set_new(more, "body", json_stringn(answer.body, answer.length));
    }
    print(op, st, answer.fault, more);
}

static enum az_status
check(struct op *op, const char *url, const json_t *document)
{
    (void) url;
    return json_object_get(document, "bad") == NULL
               ? AZ_OK
               : op_fail(op, AZ_INVALID_CLIENT_METADATA, "It is bad", "bad document");
}

/* The check of another caller for the same documents. */
static enum az_status
check_more(struct op *op, const char *url, const json_t *document)
{
    return json_object_get(document, "worse") == NULL
               ? check(op, url, document)
               : op_fail(op, AZ_INVALID_CLIENT_METADATA, "It is worse", "bad document");
}

static void
do_document(struct op *op, char **word, int count)
{
    enum document_kind kind = strcmp(word[0], "keys") == 0          ? DOCUMENT_KEYS
                              : strcmp(word[0], "discovery") == 0   ? DOCUMENT_DISCOVERY
                              : strcmp(word[0], "client_keys") == 0 ? DOCUMENT_CLIENT_KEYS
                                                                    : DOCUMENT_CLIENT_METADATA;
    struct document document;
    enum fetch_fault fault = FETCH_OK;
    enum az_status st = AZ_OK;
    uint64_t trips = 0;
    for (int i = 2; i < count; i++) {
        az_fault_clear(&op->fault);
        trips = op->az->db != NULL ? db_trips(op->az->db) : 0;
        st = document_get(op, kind, word[1], atoll(word[i]), i == 3 ? check_more : check, &document,
                          &fault);
    }
    json_t *more = st == AZ_OK
                       ? json_pack("{s:O, s:I, s:b}", "document", document.json, "fetched_ms",
                                   (json_int_t) document.fetched_ms, "changed", document.changed)
                       : json_object();
    json_object_set_new(more, "trips", json_integer((json_int_t) (db_trips(op->az->db) - trips)));
    print(op, st, fault, more);
}

/* Wait for the gate, so that several processes start at once, however long each took to get ready.
 */
static void
wait_at_gate(struct op *op)
{
    const struct timespec nap = {.tv_sec = 0, .tv_nsec = 2000000};
    const char *gate = getenv("FETCHER_GATE");
    if (gate == NULL || db_connect(op) != AZ_OK)
        return;
    int ready = open(talloc_asprintf(op->mem, "%s.%d", gate, (int) getpid()), O_CREAT, 0600);
    while (ready >= 0 && access(gate, F_OK) != 0)
        nanosleep(&nap, NULL);
}

int
main(int argc, char **argv)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct problems problems = {NULL, 0};
    struct az *az = argc > 2 ? process_new(mem, true, &problems) : NULL;
    for (size_t i = 0; i < problems.count; i++)
        fprintf(stderr, "%s\n", problems.line[i]);
    if (az == NULL || problems.count > 0)
        return 78;
    az->pool = "web";
    az->pool_workers = atoi(argv[1]);
    struct op op = process_op(mem, az);
    /* Each process stands for a client of its own, unless the test names its address. */
    op.address = getenv("FETCHER_ADDRESS");
    if (op.address == NULL)
        op.address =
            talloc_asprintf(mem, "10.0.%d.%d", (int) getpid() / 256 % 256, (int) getpid() % 256);
    wait_at_gate(&op);
    if (strcmp(argv[2], "fetch") == 0 && argc > 6)
        do_fetch(&op, argv + 3, argc - 3);
    else if (strcmp(argv[2], "document") == 0 && argc > 5)
        do_document(&op, argv + 3, argc - 3);
    else if (strcmp(argv[2], "prune") == 0)
        print(&op, documents_prune(&op), FETCH_OK, json_object());
    else
        return 64;
    talloc_free(mem);
    return 0;
}
