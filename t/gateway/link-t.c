/* The rules of links without HTTP and SQL (gateway-admin.md 3.5): state, answers of token
 * endpoints, places of metadata, return_to. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/link/answer.h"
#include "gateway/link/metadata.h"
#include "gateway/link/need.h"
#include "gateway/link/state.h"
#include "tap.h"

static void
check_state(void)
{
    struct link_keys keys = {.count = 1}, other = {.count = 1}, both = {.count = 2};
    const struct link_state state = {.jti = "0123456789abcde", .expires_at = 1795172300};
    struct link_state seen;
    char text[LINK_STATE_SIZE], changed[LINK_STATE_SIZE];
    link_key_derive("the secret of the tests", keys.key[0]);
    link_key_derive("another secret", other.key[0]);
    memcpy(both.key[0], other.key[0], SHA256_OCTETS);
    memcpy(both.key[1], keys.key[0], SHA256_OCTETS);
    is_int(link_state_make(&keys, &state, text), AZ_OK, "a state is made");
    is_int((int64_t) strlen(text), LINK_STATE_LENGTH, "... of one length");
    ok(strncmp(text, "v1.", 3) == 0, "... with its version");
    is_int(link_state_read(&keys, text, &seen), AZ_OK, "it is read again");
    is_int(seen.expires_at, state.expires_at, "... with its expiry");
    is_bin(seen.jti, LINK_JTI_OCTETS, state.jti, LINK_JTI_OCTETS, "... and its id");
    is_int(link_state_read(&other, text, &seen), AZ_INVALID, "another key does not read it");
    is_int(link_state_read(&both, text, &seen), AZ_OK, "the previous key does during a rotation");
    size_t read = 0;
    for (size_t i = 0; i < LINK_STATE_LENGTH; i++) {
        memcpy(changed, text, sizeof(changed));
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        read += link_state_read(&keys, changed, &seen) == AZ_OK;
    }
    is_int((int64_t) read, 0, "no state with one changed character is read");
    text[LINK_STATE_LENGTH - 1] = '\0';
    is_int(link_state_read(&keys, text, &seen), AZ_INVALID, "a state that is cut is not read");
    is_int(link_state_read(&keys, "", &seen), AZ_INVALID, "nor an empty one");
    const struct link_state ancient = {.expires_at = INT64_MIN};
    link_state_make(&keys, &ancient, text);
    is_int(link_state_read(&keys, text, &seen), AZ_INVALID, "nor one whose expiry is no time");
}

/* clang-format off */
static const struct { int status; const char *body; const char *pointer; enum link_outcome wanted; const char *name; } answers[] = {
    {200, "{\"access_token\":\"a\",\"token_type\":\"Bearer\"}", NULL, LINK_TOKENS, "an answer of RFC 6749 5.1"},
    {200, "{\"access_token\":\"a\",\"token_type\":\"bearer\"}", NULL, LINK_TOKENS, "... its token_type has no case"},
    {200, "{\"access_token\":\"a\"}", NULL, LINK_TOKENS, "... and may be missing"},
    {201, "{\"access_token\":\"a\"}", NULL, LINK_TOKENS, "... with another 2xx"},
    {200, "{\"access_token\":\"a\",\"token_type\":\"mac\"}", NULL, LINK_MALFORMED, "a token of another type (RFC 6749 7.1)"},
    {200, "{\"access_token\":\"bot\",\"authed_user\":{\"access_token\":\"a\",\"token_type\":\"user\"}}", "/authed_user/access_token", LINK_TOKENS, "accessTokenPointer, as Slack needs it"},
    {200, "{\"access_token\":\"bot\"}", "/authed_user/access_token", LINK_MALFORMED, "... nothing stands there"},
    {200, "{\"tokens\":[{\"access_token\":\"a\"}]}", "/tokens/0/access_token", LINK_TOKENS, "... into an array"},
    {200, "{\"a/b\":{\"~x\":\"a\"}}", "/a~1b/~0x", LINK_TOKENS, "... with escapes (RFC 6901 4)"},
    {200, "{}", NULL, LINK_MALFORMED, "no token"},
    {200, "{\"access_token\":\"\"}", NULL, LINK_MALFORMED, "an empty token"},
    {200, "{\"access_token\":\"a b\"}", NULL, LINK_MALFORMED, "a token with a space"},
    {200, "{\"access_token\":\"a\\r\\nX: y\"}", NULL, LINK_MALFORMED, "a token that begins a header"},
    {200, "{\"access_token\":7}", NULL, LINK_MALFORMED, "a token that is a number"},
    {200, "{\"access_token\":\"a\",\"refresh_token\":\"r\\n\"}", NULL, LINK_MALFORMED, "a refresh token with a line feed"},
    {200, "{\"access_token\":\"a\",\"refresh_token\":null}", NULL, LINK_TOKENS, "a refresh token that is null"},
    {200, "{\"error\":\"invalid_grant\",\"access_token\":\"a\"}", NULL, LINK_GRANT_REFUSED, "an error with status 200 is an error"},
    {400, "{\"error\":\"invalid_grant\"}", NULL, LINK_GRANT_REFUSED, "invalid_grant"},
    {200, "{\"error\":\"bad_refresh_token\"}", NULL, LINK_GRANT_REFUSED, "... in GitHub's words"},
    {401, "{\"error\":\"invalid_client\"}", NULL, LINK_CLIENT_REFUSED, "invalid_client"},
    {400, "{\"error\":\"invalid_scope\"}", NULL, LINK_FAILED, "another error"},
    {500, "{\"error\":\"invalid_grant\"}", NULL, LINK_FAILED, "a server that fails refuses nothing"},
    {503, "busy", NULL, LINK_FAILED, "... whatever its body is"},
    {200, "{\"ok\":false,\"access_token\":\"a\"}", NULL, LINK_MALFORMED, "ok:false, as Slack says it"},
    {302, "{\"access_token\":\"a\"}", NULL, LINK_MALFORMED, "a redirect"},
    {200, "[]", NULL, LINK_MALFORMED, "no object"},
    {200, "", NULL, LINK_MALFORMED, "nothing"},
    {200, "{\"access_token\":\"a\",\"access_token\":\"b\"}", NULL, LINK_MALFORMED, "a member twice"},
};
static const struct { const char *more; int64_t otherwise, wanted; const char *name; } lives[] = {
    {"\"expires_in\":3600", 0, 3600, "expires_in"},
    {"\"expires_in\":\"3600\"", 0, 3600, "... as a text"},
    {"\"expires_in\":3599.5", 0, 3599, "... as a fraction"},
    {"\"x\":1", 60, 60, "no expires_in: defaultExpiresIn"},
    {"\"x\":1", 0, 0, "... and without it the token does not expire"},
    {"\"expires_in\":0", 60, 60, "expires_in 0: as if it were missing"},
    {"\"expires_in\":-5", 60, 60, "... so a negative one"},
    {"\"expires_in\":\"soon\"", 60, 60, "... so no number"},
    {"\"expires_in\":315360000", 0, LINK_EXPIRES_MAX, "the longest life"},
    {"\"expires_in\":315360001", 0, LINK_EXPIRES_MAX, "one more is cut"},
    {"\"expires_in\":1e300", 0, LINK_EXPIRES_MAX, "... so is any number"},
};
static const struct { const char *address, *name; enum link_well_known where; const char *wanted; } places[] = {
    {"https://h", "n", LINK_INSERTED, "https://h/.well-known/n"},
    {"https://h/", "n", LINK_INSERTED, "https://h/.well-known/n"},
    {"https://h/a/b", "n", LINK_INSERTED, "https://h/.well-known/n/a/b"},
    {"https://h/a/", "n", LINK_INSERTED, "https://h/.well-known/n/a"},
    {"https://h:8443/a", "n", LINK_APPENDED, "https://h:8443/a/.well-known/n"},
    {"ftp://h/a", "n", LINK_INSERTED, NULL},
    {"https://h/a?b", "n", LINK_INSERTED, NULL},
    {"https://u@h/", "n", LINK_INSERTED, NULL},
    {"h", "n", LINK_INSERTED, NULL},
};
static const struct { const char *identifier, *address; bool wanted; } covers[] = {
    {"https://h/a", "https://h/a", true},
    {"https://h", "https://h/a", true},
    {"https://h/", "https://h/a", true},
    {"https://h/a", "https://h/a/b", true},
    {"https://h/a", "https://h/ab", false},
    {"https://h/a/b", "https://h/a", false},
    {"https://other/a", "https://h/a", false},
    {"http://h/a", "https://h/a", false},
};
static const struct { const char *text; bool wanted; } returns[] = {
    {"/", true}, {"/portal?a=1", true}, {"/a//b", true},
    {"//evil.example", false}, {"/\\evil.example", false}, {"\\\\evil.example", false}, {"https://evil.example/", false},
    {"", false}, {"evil", false}, {"/a b", false}, {"/a\tb", false}, {"/a#b", false}, {"/%zz", false}, {"/\xc3\xa9", false},
};
/* clang-format on */
#define EACH(i, table) for (size_t i = 0; i < sizeof(table) / sizeof((table)[0]); i++)

static void
check_answers(TALLOC_CTX *mem)
{
    struct link_tokens tokens;
    const char *error;
    EACH(i, answers)
    {
        const struct link_reading reading = {.access_token_pointer = answers[i].pointer};
        enum link_outcome outcome = LINK_MALFORMED;
        link_answer_read(mem, &reading, answers[i].status, answers[i].body, strlen(answers[i].body),
                         &outcome, &tokens, &error);
        is_int(outcome, answers[i].wanted, "%s", answers[i].name);
        ok((tokens.access_token != NULL) == (outcome == LINK_TOKENS), "... and its token");
    }
    EACH(i, lives)
    {
        const struct link_reading reading = {.default_expires_in = lives[i].otherwise};
        enum link_outcome outcome;
        const char *body = talloc_asprintf(mem, "{\"access_token\":\"a\",%s}", lives[i].more);
        link_answer_read(mem, &reading, 200, body, strlen(body), &outcome, &tokens, &error);
        is_int(tokens.expires_in, lives[i].wanted, "%s", lives[i].name);
    }
    for (size_t extra = 0; extra < 2; extra++) {
        const struct link_reading reading = {.access_token_pointer = NULL};
        enum link_outcome outcome;
        char token[LINK_TOKEN_MAX + 2] = "";
        memset(token, 'x', LINK_TOKEN_MAX + extra);
        const char *body = talloc_asprintf(mem, "{\"access_token\":\"%s\"}", token);
        link_answer_read(mem, &reading, 200, body, strlen(body), &outcome, &tokens, &error);
        is_int(outcome, extra == 0 ? LINK_TOKENS : LINK_MALFORMED, "a token %s",
               extra == 0 ? "of the longest length" : "that is one octet longer");
    }
}

static void
check_scopes(TALLOC_CTX *mem)
{
    is_str(jsonx_dump(mem, link_scopes_split(mem, "a b,c  a", NULL)), "[\"a\",\"b\",\"c\"]",
           "scopes are separated by spaces or commas (GitHub), once each");
    is_str(jsonx_dump(mem, link_scopes_split(mem, "a;b", ";")), "[\"a\",\"b\"]",
           "... or by scopeSeparator");
    is_str(jsonx_dump(mem, link_scopes_split(mem, NULL, NULL)), "[]", "... or there are none");
    json_t *asked = link_scopes_split(mem, "openid offline_access a b", NULL);
    is_str(jsonx_dump(mem, link_scopes_missing(mem, asked, link_scopes_split(mem, "b", NULL))),
           "[\"a\"]", "a scope that was not granted is missing, those of OpenID Connect never");
    is_str(jsonx_dump(mem, link_scopes_missing(mem, NULL, NULL)), "[]",
           "where nothing is asked for, nothing is missing");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    check_state();
    check_answers(mem);
    check_scopes(mem);
    EACH(i, places)
    is_str(link_well_known_url(mem, places[i].address, places[i].name, places[i].where),
           places[i].wanted, "the place of metadata of %s", places[i].address);
    EACH(i, covers)
    ok(link_resource_covers(mem, covers[i].identifier, covers[i].address) == covers[i].wanted,
       "%s %s %s", covers[i].identifier, covers[i].wanted ? "covers" : "does not cover",
       covers[i].address);
    EACH(i, returns)
    ok(link_return_is_ours(mem, returns[i].text) == returns[i].wanted, "return_to \"%s\" %s",
       returns[i].text, returns[i].wanted ? "stays here" : "is refused");
    char longest[LINK_RETURN_MAX + 2] = "/";
    memset(longest + 1, 'x', LINK_RETURN_MAX - 1);
    ok(link_return_is_ours(mem, longest), "the longest return_to");
    longest[LINK_RETURN_MAX] = 'x';
    ok(!link_return_is_ours(mem, longest), "one octet more is refused");
    talloc_free(mem);
    return done();
}
