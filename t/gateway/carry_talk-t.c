/* What the two workers of a carried call say to each other, and what its answer must meet
 * (gateway-admin.md 1.12). */
#include "config.h"

#include "gateway/mcp/ask/carry_talk.h"

#include <string.h>
#include <sys/socket.h>
#include <talloc.h>
#include <unistd.h>

#include "base/json/jsonx.h"
#include "managed/managed.h"
#include "tap.h"

/* Octets of a piece, as in carry_talk.c, and of the longest text that the buffer of a socket takes
 * while nothing reads it. */
#define PIECE_OCTETS 32768
#define TEXT_MAX (PIECE_OCTETS * 2)
/* Seconds after which a call that waits ends the test. */
#define HANGS_SECONDS 30
#define SHORT_MS 10

static TALLOC_CTX *mem;

static void
open_pair(int ret[2])
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ret) != 0)
        ret[0] = ret[1] = -1;
    ok(ret[0] >= 0, "a connection");
}

/* Say a text of so many octets, and hear it. */
static void
test_length(size_t length, int pieces)
{
    int pair[2];
    int heard = 0;
    bool whole = false;
    char *text = talloc_size(mem, length);
    struct buf got;
    memset(text, 'x', length);
    buf_init(&got, mem, TEXT_MAX);
    open_pair(pair);
    ok(talk_say(pair[0], text, length), "%zu octets are said", length);
    while (!whole && talk_hear(pair[1], &got, &whole) == AZ_OK)
        heard++;
    is_int(heard, pieces, "... in %d pieces", pieces);
    ok(whole && got.len == length && memcmp(got.data, text, length) == 0, "... and heard whole");
    is_int(talk_hear(pair[1], &got, &whole), AZ_NOT_FOUND, "... once");
    buf_done(&got);
    close(pair[0]);
    close(pair[1]);
}

static void
test_too_long(void)
{
    int pair[2];
    bool whole = false;
    struct buf got;
    buf_init(&got, mem, 3);
    open_pair(pair);
    ok(talk_say(pair[0], "four", 4) && talk_hear(pair[1], &got, &whole) == AZ_INVALID,
       "a text with an octet too many is refused");
    buf_done(&got);
    close(pair[0]);
    close(pair[1]);
}

static void
test_end(void)
{
    int pair[2];
    bool whole = false;
    struct buf got;
    buf_init(&got, mem, TEXT_MAX);
    open_pair(pair);
    ok(!talk_has_ended(-1), "no connection has not ended");
    ok(!talk_has_ended(pair[0]), "one that is open neither");
    ok(!talk_is_kept(pair[0], SHORT_MS), "a question of which nothing is said is not kept");
    ok(talk_keep(pair[1]) && talk_is_kept(pair[0], HANGS_SECONDS * 1000), "... it is kept");
    ok(talk_say(pair[1], "+", 1) && !talk_is_kept(pair[0], HANGS_SECONDS * 1000),
       "another word does not keep it");
    close(pair[1]);
    ok(talk_has_ended(pair[0]), "a connection whose other end is closed has ended");
    ok(!talk_is_kept(pair[0], HANGS_SECONDS * 1000), "... keeps nothing, without a wait");
    ok(!talk_say(pair[0], "late", 4), "... takes nothing");
    is_int(talk_hear(pair[0], &got, &whole), AZ_NOT_FOUND, "... and gives nothing");
    buf_done(&got);
    close(pair[0]);
}

static void
test_duties(void)
{
    const struct managed_resource first = {.version = 7}, second = {.version = 8};
    json_t *none = jsonx_own(mem, json_object());
    json_t *some = jsonx_own(mem, json_pack("{s:s}", "X-Tier", "gold"));
    const struct {
        const struct managed_resource *resource;
        struct gateway_obligations of;
        bool same;
        const char *name;
    } cases[] = {
        {&first,  {.response_max_bytes = 0},    true,  "the same"                },
        {&first,  {.headers = none},            true,  "fields that are none"    },
        {&second, {.response_max_bytes = 0},    false, "another version"         },
        {&first,  {.response_max_bytes = 4096}, false, "another limit"           },
        {&first,  {.approve_by_ciba = true},    false, "an approval"             },
        {&first,  {.headers = some},            false, "a field for the upstream"},
    };
    const struct mcp_round round = {.resource = &first, .obligations = &cases[0].of};
    const char *duties = talk_duties(mem, &round);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct mcp_round other = {.resource = cases[i].resource, .obligations = &cases[i].of};
        ok((strcmp(talk_duties(mem, &other), duties) == 0) == cases[i].same,
           "what a call that waits is bound to: %s", cases[i].name);
    }
}

int
main(void)
{
    mem = talloc_new(NULL);
    plan(0);
    alarm(HANGS_SECONDS);
    test_length(1, 1);
    test_length(PIECE_OCTETS, 1);
    test_length(PIECE_OCTETS + 1, 2);
    test_length(TEXT_MAX, 2);
    test_too_long();
    test_end();
    test_duties();
    talloc_free(mem);
    return done();
}
