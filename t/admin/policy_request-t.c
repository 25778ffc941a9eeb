#include "config.h"

#include "admin/policy_request.h"

#include <string.h>

#include "http/fake_io.h"
#include "tap.h"

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
    const char *text;
    int64_t id;
    const char *name;
} ids[] = {
    {"1",                    1,         "one digit"              },
    {"0",                    0,         "zero, which nothing has"},
    {"0012",                 12,        "leading zeros"          },
    {"9223372036854775807",  INT64_MAX, "the largest"            },
    {"9223372036854775808",  -1,        "one past it"            },
    {"99999999999999999999", -1,        "twenty digits"          },
    {"18446744073709551617", -1,        "what wraps to 1"        },
    {"",                     -1,        "nothing"                },
    {"-1",                   -1,        "a sign"                 },
    {"+1",                   -1,        "a plus"                 },
    {" 1",                   -1,        "a blank before"         },
    {"1 ",                   -1,        "a blank behind"         },
    {"1x",                   -1,        "a letter behind"        },
    {"0x1",                  -1,        "hex"                    },
    {"by-path",              -1,        "a word"                 },
};

static void
test_ids(TALLOC_CTX *mem)
{
    static const char *const set[] = {NULL};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        struct request *req = fake_request(mem, fake_new(mem, set, ""), NULL);
        int64_t id = -1;
        req->path_value[0] = ids[i].text;
        enum az_status st = policy_path_id(req, &id);
        ok(st == (ids[i].id < 0 ? AZ_NOT_FOUND : AZ_OK) && id == ids[i].id, "an id is %s: %s",
           ids[i].id < 0 ? "not found" : "read", ids[i].name);
    }
}

static enum az_status
match(TALLOC_CTX *mem, const char *header, const char *digest)
{
    const char *const set[] = {"HTTP_IF_MATCH", header, NULL};
    return policy_if_match(fake_request(mem, fake_new(mem, set, ""), NULL), digest);
}

static void
test_if_match(TALLOC_CTX *mem)
{
    static const char *const none[] = {NULL};
    char *longest = talloc_asprintf(mem, "%*s", HTTP_HEADER_MAX, "\"" DIGEST "\""),
         *longer = talloc_asprintf(mem, " %s", longest);
    struct request *req = fake_request(mem, fake_new(mem, none, ""), NULL);
    ok(policy_if_match(req, NULL) == AZ_OK && !policy_has_if_match(req),
       "without If-Match nothing is asked (RFC 9110 13.1.1)");
    ok(match(mem, "\"" DIGEST "\"", DIGEST) == AZ_OK, "the digest in quotes matches");
    ok(match(mem, "*", DIGEST) == AZ_OK, "* matches what is there");
    ok(match(mem, "*", NULL) == AZ_PRECONDITION_FAILED, "... and not what is not");
    ok(match(mem, "\"" DIGEST "\"", NULL) == AZ_PRECONDITION_FAILED, "nor does a digest");
    ok(match(mem, "W/\"" DIGEST "\"", DIGEST) == AZ_PRECONDITION_FAILED, "a weak tag never does");
    ok(match(mem, "\"x\"", DIGEST) == AZ_PRECONDITION_FAILED, "nor another one");
    ok(match(mem, "", DIGEST) == AZ_PRECONDITION_FAILED, "nor an empty header");
    ok(match(mem, longest, DIGEST) == AZ_OK, "a header of 8192 octets is read");
    ok(match(mem, longer, DIGEST) == AZ_PRECONDITION_FAILED,
       "one of 8193 holds for nothing: refused, not overlooked");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_ids(mem);
    test_if_match(mem);
    talloc_free(mem);
    return done();
}
