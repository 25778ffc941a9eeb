/* A process's memory of fetched documents: how long, how many, and that a document in use stays
 * valid (performance.md 3.6). */
#include "config.h"

#include "http/fetch/document_memory.h"

#include <string.h>

#include "env.h"
#include "tap.h"

static enum az_status
check(struct op *op, const char *url, const json_t *document)
{
    (void) op, (void) url, (void) document;
    return AZ_OK;
}

static const unsigned char *
key(int number)
{
    static unsigned char octets[SHA256_OCTETS];
    memset(octets, 0, sizeof(octets));
    memcpy(octets + sizeof(octets) - sizeof(number), &number, sizeof(number));
    return octets;
}

static void
remember(struct op *op, int number, int64_t now, int64_t seconds)
{
    json_t *json = json_pack("{s:i}", "n", number);
    const struct document_remembered document = {
        .json = json, .fetched_ms = number, .checked = check};
    document_remember(op, key(number), now, seconds, &document);
    json_decref(json);
}

/* Return the number in the document under a key, or -1. */
static int
recall(struct op *op, int number, int64_t now)
{
    struct document_remembered found;
    if (!document_recall(op, key(number), now, &found))
        return -1;
    return found.fetched_ms == number && found.checked == check
               ? (int) json_integer_value(json_object_get(found.json, "n"))
               : -2;
}

static void
test_time(TALLOC_CTX *mem)
{
    struct op op = env_op(mem, env_az(mem));
    is_int(recall(&op, 1, 0), -1, "nothing is remembered at first");
    remember(&op, 1, 1000, 86400);
    is_int(recall(&op, 1, 1000), 1, "a document is remembered");
    is_int(recall(&op, 2, 1000), -1, "... under its own key");
    is_int(recall(&op, 1, 1000 + DOCUMENT_MEMORY_MS - 1), 1, "... for 60 s");
    is_int(recall(&op, 1, 1000 + DOCUMENT_MEMORY_MS), -1, "... and not a moment longer");
    is_int(recall(&op, 1, 1000), -1, "... it is gone then");
    remember(&op, 1, 1000, 5);
    is_int(recall(&op, 1, 5999), 1, "one that holds for 5 s more is remembered so long");
    is_int(recall(&op, 1, 6000), -1, "... and not past its own end");
    remember(&op, 1, 1000, 60);
    remember(&op, 1, 1000, 0);
    is_int(recall(&op, 1, 1000), -1,
           "one that is at its end takes the place of the other, as none");
    remember(&op, 1, 1000, -5);
    is_int(recall(&op, 1, 1000), -1, "one that is past its end is not remembered");
}

static void
test_room(TALLOC_CTX *mem)
{
    struct op op = env_op(mem, env_az(mem));
    for (int i = 0; i < DOCUMENT_MEMORY_MAX; i++)
        remember(&op, i, i == 7 ? 0 : 10, 60);
    int found = 0;
    for (int i = 0; i < DOCUMENT_MEMORY_MAX; i++)
        found += recall(&op, i, 10) == i;
    is_int(found, DOCUMENT_MEMORY_MAX, "as many as there is room for are remembered");
    remember(&op, 3, 20, 60);
    remember(&op, 1000, 20, -1);
    found = 0;
    for (int i = 0; i < DOCUMENT_MEMORY_MAX; i++)
        found += recall(&op, i, 20) == i;
    is_int(found, DOCUMENT_MEMORY_MAX, "one of the same key, or one past its end, pushes none out");
    remember(&op, 1000, 20, 60);
    is_int(recall(&op, 1000, 20), 1000, "one more is remembered");
    is_int(recall(&op, 7, 20), -1, "... in place of the one that would have ended first");
    found = 0;
    for (int i = 0; i < DOCUMENT_MEMORY_MAX; i++)
        found += recall(&op, i, 20) == i;
    is_int(found, DOCUMENT_MEMORY_MAX - 1, "... and of no other");
}

/* A request that reads a document keeps it, whatever another step of the request does to the
 * memory. */
static void
test_lives(TALLOC_CTX *mem)
{
    struct az *az = env_az(mem);
    struct op op = env_op(talloc_new(mem), az), later = env_op(talloc_new(mem), az);
    struct document_remembered first, second;
    json_t *json = json_pack("{s:s}", "issuer", "https://a.example");
    const struct document_remembered made = {.json = json, .fetched_ms = 1, .checked = NULL};
    document_remember(&op, key(1), 0, 60, &made);
    json_decref(json);
    ok(document_recall(&op, key(1), 0, &first), "a document is handed out");
    const char *text = json_string_value(json_object_get(first.json, "issuer"));
    remember(&later, 1, 0, 60);
    is_str(text, "https://a.example",
           "one that is replaced meanwhile stays to the operation's end");
    for (int i = 0; i < 2 * DOCUMENT_MEMORY_MAX; i++)
        remember(&later, i + 2, i, 60);
    is_str(text, "https://a.example", "... also one that is pushed out");
    ok(first.json->refcount == 1, "... and then it has no other holder");
    remember(&later, 9, 0, 60);
    ok(document_recall(&later, key(9), 0, &second), "another is handed out");
    talloc_free(later.mem);
    is_int(recall(&op, 9, 0), 9, "the end of an operation takes nothing from the memory");
    talloc_free(op.mem);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_time(mem);
    test_room(mem);
    test_lives(mem);
    talloc_free(mem);
    return done();
}
