#include "config.h"

#include "http/header_value.h"

#include <string.h>

#include "http/fake_io.h"
#include "tap.h"

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static enum az_status
match(TALLOC_CTX *mem, const char *header, const char *digest)
{
    const char *const set[] = {"HTTP_IF_MATCH", header, NULL};
    return request_if_match(fake_request(mem, fake_new(mem, set, ""), NULL), digest);
}

static void
test_if_match(TALLOC_CTX *mem)
{
    static const char *const none[] = {NULL};
    char *longest = talloc_asprintf(mem, "%*s", HTTP_HEADER_MAX, "\"" DIGEST "\""),
         *longer = talloc_asprintf(mem, " %s", longest);
    struct request *req = fake_request(mem, fake_new(mem, none, ""), NULL);
    ok(request_if_match(req, NULL) == AZ_OK && !request_has_if_match(req),
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
    test_if_match(mem);
    talloc_free(mem);
    return done();
}
