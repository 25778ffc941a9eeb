/* The reader of answers of token endpoints (RFC 6749 5, gateway-admin.md 3.5). */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "client/answer.h"
#include "tap.h"

/* clang-format off */
static const struct { int status; const char *body; const char *pointer; enum client_outcome wanted; const char *name; } answers[] = {
    {200, "{\"access_token\":\"a\",\"token_type\":\"Bearer\"}", NULL, CLIENT_TOKENS, "an answer of RFC 6749 5.1"},
    {200, "{\"access_token\":\"a\",\"token_type\":\"bearer\"}", NULL, CLIENT_TOKENS, "... its token_type has no case"},
    {200, "{\"access_token\":\"a\"}", NULL, CLIENT_TOKENS, "... and may be missing"},
    {201, "{\"access_token\":\"a\"}", NULL, CLIENT_TOKENS, "... with another 2xx"},
    {200, "{\"access_token\":\"a\",\"token_type\":\"mac\"}", NULL, CLIENT_MALFORMED, "a token of another type (RFC 6749 7.1)"},
    {200, "{\"access_token\":\"bot\",\"authed_user\":{\"access_token\":\"a\",\"token_type\":\"user\"}}", "/authed_user/access_token", CLIENT_TOKENS, "accessTokenPointer, as Slack needs it"},
    {200, "{\"access_token\":\"bot\"}", "/authed_user/access_token", CLIENT_MALFORMED, "... nothing stands there"},
    {200, "{\"tokens\":[{\"access_token\":\"a\"}]}", "/tokens/0/access_token", CLIENT_TOKENS, "... into an array"},
    {200, "{\"a/b\":{\"~x\":\"a\"}}", "/a~1b/~0x", CLIENT_TOKENS, "... with escapes (RFC 6901 4)"},
    {200, "{}", NULL, CLIENT_MALFORMED, "no token"},
    {200, "{\"access_token\":\"\"}", NULL, CLIENT_MALFORMED, "an empty token"},
    {200, "{\"access_token\":\"a b\"}", NULL, CLIENT_MALFORMED, "a token with a space"},
    {200, "{\"access_token\":\"a\\r\\nX: y\"}", NULL, CLIENT_MALFORMED, "a token that begins a header"},
    {200, "{\"access_token\":7}", NULL, CLIENT_MALFORMED, "a token that is a number"},
    {200, "{\"access_token\":\"a\",\"refresh_token\":\"r\\n\"}", NULL, CLIENT_MALFORMED, "a refresh token with a line feed"},
    {200, "{\"access_token\":\"a\",\"refresh_token\":null}", NULL, CLIENT_TOKENS, "a refresh token that is null"},
    {200, "{\"error\":\"invalid_grant\",\"access_token\":\"a\"}", NULL, CLIENT_GRANT_REFUSED, "an error with status 200 is an error"},
    {400, "{\"error\":\"invalid_grant\"}", NULL, CLIENT_GRANT_REFUSED, "invalid_grant"},
    {200, "{\"error\":\"bad_refresh_token\"}", NULL, CLIENT_GRANT_REFUSED, "... in GitHub's words"},
    {401, "{\"error\":\"invalid_client\"}", NULL, CLIENT_CLIENT_REFUSED, "invalid_client"},
    {400, "{\"error\":\"invalid_scope\"}", NULL, CLIENT_FAILED, "another error"},
    {500, "{\"error\":\"invalid_grant\"}", NULL, CLIENT_FAILED, "a server that fails refuses nothing"},
    {503, "busy", NULL, CLIENT_FAILED, "... whatever its body is"},
    {429, "{\"error\":\"invalid_grant\"}", NULL, CLIENT_FAILED, "M6: nor does a server that has too many requests"},
    {400, "{\"error\":{\"code\":190,\"message\":\"m\",\"type\":\"OAuthException\"}}", NULL, CLIENT_REFUSED, "M6: an error that is an object"},
    {401, "{\"error\":{\"code\":401,\"status\":\"invalid_grant\"}}", NULL, CLIENT_GRANT_REFUSED, "... with a known code in one of its members"},
    {403, "{\"errors\":[{\"status\":\"403\"}]}", NULL, CLIENT_REFUSED, "M6: errors[0] (JSON:API)"},
    {400, "{\"errors\":[\"invalid_client\"]}", NULL, CLIENT_CLIENT_REFUSED, "... as a text with a known code"},
    {400, "{\"error\":{}}", NULL, CLIENT_REFUSED, "... an empty object"},
    {400, "{\"error\":\"invalid_request\"}", NULL, CLIENT_REFUSED, "M6: invalid_request, which many say of a token that has ended"},
    {401, "<html>", NULL, CLIENT_REFUSED, "M6: 401 with a page"},
    {404, "{\"error\":{\"code\":404}}", NULL, CLIENT_FAILED, "M6: 404 refuses nothing"},
    {404, "<html>", NULL, CLIENT_MALFORMED, "... with a page: no answer of a token endpoint"},
    {200, "{\"error\":{\"message\":\"m\"},\"access_token\":\"a\"}", NULL, CLIENT_FAILED, "M6: an object without a code is an error too"},
    {200, "{\"error\":0,\"errors\":[],\"access_token\":\"a\"}", NULL, CLIENT_TOKENS, "... a number and an empty list are none"},
    {400, "{\"error\":\"invalid_target\"}", NULL, CLIENT_FAILED, "invalid_target: the request is wrong, no token has ended (RFC 8707 2)"},
    {200, "{\"ok\":false,\"access_token\":\"a\"}", NULL, CLIENT_MALFORMED, "ok:false, as Slack says it"},
    {302, "{\"access_token\":\"a\"}", NULL, CLIENT_MALFORMED, "a redirect"},
    {200, "[]", NULL, CLIENT_MALFORMED, "no object"},
    {200, "", NULL, CLIENT_MALFORMED, "nothing"},
    {200, "{\"access_token\":\"a\",\"access_token\":\"b\"}", NULL, CLIENT_MALFORMED, "a member twice"},
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
    {"\"expires_in\":315360000", 0, CLIENT_EXPIRES_MAX, "the longest life"},
    {"\"expires_in\":315360001", 0, CLIENT_EXPIRES_MAX, "one more is cut"},
    {"\"expires_in\":1e300", 0, CLIENT_EXPIRES_MAX, "... so is any number"},
};
/* clang-format on */
#define EACH(i, table) for (size_t i = 0; i < sizeof(table) / sizeof((table)[0]); i++)

static struct client_answer
read_typed(TALLOC_CTX *mem, const struct client_reading *reading, int status, const char *type,
           const char *body)
{
    const struct fetch_answer got = {
        .status = status, .content_type = type, .body = body, .length = strlen(body)};
    struct client_answer answer;
    is_int(client_answer_read(mem, reading, &got, &answer), AZ_OK, "an answer is read");
    return answer;
}

static struct client_answer
read_text(TALLOC_CTX *mem, const struct client_reading *reading, int status, const char *body)
{
    return read_typed(mem, reading, status, "application/json", body);
}

static void
check_answers(TALLOC_CTX *mem)
{
    EACH(i, answers)
    {
        const struct client_reading reading = {.access_token_pointer = answers[i].pointer};
        struct client_answer answer = read_text(mem, &reading, answers[i].status, answers[i].body);
        is_int(answer.outcome, answers[i].wanted, "%s", answers[i].name);
        ok((answer.tokens.access_token != NULL) == (answer.outcome == CLIENT_TOKENS),
           "... and its token");
    }
    EACH(i, lives)
    {
        const struct client_reading reading = {.default_expires_in = lives[i].otherwise};
        const char *body = talloc_asprintf(mem, "{\"access_token\":\"a\",%s}", lives[i].more);
        is_int(read_text(mem, &reading, 200, body).tokens.expires_in, lives[i].wanted, "%s",
               lives[i].name);
    }
    for (size_t extra = 0; extra < 2; extra++) {
        const struct client_reading reading = {.access_token_pointer = NULL};
        char token[CLIENT_TOKEN_MAX + 2] = "";
        memset(token, 'x', CLIENT_TOKEN_MAX + extra);
        const char *body = talloc_asprintf(mem, "{\"access_token\":\"%s\"}", token);
        is_int(read_text(mem, &reading, 200, body).outcome,
               extra == 0 ? CLIENT_TOKENS : CLIENT_MALFORMED, "a token %s",
               extra == 0 ? "of the longest length" : "that is one octet longer");
    }
}

/* The service's own tokens: the type counts whatever the pointer is. */
static void
check_bearer(TALLOC_CTX *mem)
{
    const struct client_reading reading = {.access_token_pointer = "/data/access_token",
                                           .bearer = true};
    is_int(read_text(mem, &reading, 200, "{\"data\":{\"access_token\":\"a\"}}").outcome,
           CLIENT_TOKENS, "bearer: an answer without token_type");
    is_int(
        read_text(mem, &reading, 200, "{\"data\":{\"access_token\":\"a\",\"token_type\":\"user\"}}")
            .outcome,
        CLIENT_MALFORMED, "... with another type (RFC 6749 7.1)");
    const struct client_reading usual = {.bearer = true};
    struct client_answer answer =
        read_text(mem, &usual, 200,
                  "{\"access_token\":\"a\",\"issued_token_type\":\"t\",\"token_type\":\"Bearer\"}");
    is_str(answer.tokens.issued_type, "t", "issued_token_type is taken (RFC 8693 2.2.1)");
}

/* OpenID Connect: the ID token is wanted, the access token only if it can be used. */
static void
check_id_token(TALLOC_CTX *mem)
{
    const struct client_reading reading = {.access_optional = true};
    struct client_answer answer = read_text(mem, &reading, 200, "{\"id_token\":\"i\"}");
    is_int(answer.outcome, CLIENT_TOKENS, "an ID token alone (OpenID Connect Core 3.1.3.3)");
    is_str(answer.tokens.id_token, "i", "... is taken");
    ok(answer.tokens.access_token == NULL, "... without access token");
    answer = read_text(mem, &reading, 200, "{\"id_token\":\"i\",\"access_token\":\"a\"}");
    is_str(answer.tokens.access_token, "a", "U1: no token_type counts as Bearer");
    answer = read_text(mem, &reading, 200,
                       "{\"id_token\":\"i\",\"access_token\":\"a\",\"token_type\":\"DPoP\"}");
    ok(answer.outcome == CLIENT_TOKENS && answer.tokens.access_token == NULL,
       "an access token of another type is not used (RFC 6749 7.1)");
    answer = read_text(mem, &reading, 200,
                       "{\"id_token\":\"i\",\"access_token\":\"a\",\"token_type\":\"bearer\"}");
    is_str(answer.tokens.access_token, "a", "one of type Bearer is");
    answer = read_text(mem, &reading, 200,
                       "{\"id_token\":\"i\",\"access_token\":\"a\\n\",\"token_type\":\"bearer\"}");
    is_int(answer.outcome, CLIENT_MALFORMED, "one that begins a header makes the answer malformed");
}

/* Members that are null or an empty text (world.md U8). */
static void
check_empty(TALLOC_CTX *mem)
{
    const struct client_reading reading = {.access_optional = true};
    const struct client_reading nested = {.access_token_pointer = "/user/access_token"};
    struct client_answer answer = read_text(
        mem, &reading, 200,
        "{\"id_token\":\"i\",\"access_token\":\"a\",\"token_type\":\"\",\"refresh_token\":\"\","
        "\"scope\":null,\"error\":\"\"}");
    is_int(answer.outcome, CLIENT_TOKENS,
           "U8: \"\" of refresh_token, token_type and error is absent");
    is_str(answer.tokens.access_token, "a", "... so that the token counts as Bearer");
    ok(answer.tokens.refresh_token == NULL && answer.tokens.scopes == NULL,
       "... and there is no refresh token and no scope");
    answer = read_text(mem, &reading, 200, "{\"id_token\":\"\",\"access_token\":\"\"}");
    ok(answer.outcome == CLIENT_TOKENS && answer.tokens.id_token == NULL
           && answer.tokens.access_token == NULL,
       "U8: empty tokens are no tokens");
    answer =
        read_text(mem, &nested, 200, "{\"user\":{\"access_token\":\"a\",\"refresh_token\":\"\"}}");
    ok(answer.outcome == CLIENT_TOKENS && answer.tokens.refresh_token == NULL,
       "U8: the same beside a token that stands deeper");
    answer = read_text(mem, &reading, 200, "{\"id_token\":\"i\",\"refresh_token\":7}");
    is_int(answer.outcome, CLIENT_MALFORMED, "... a number is no token");
}

/* What the operator reads of an error (world.md M6). */
static void
check_error_text(TALLOC_CTX *mem)
{
    /* clang-format off */
    static const struct { const char *body; const char *wanted; } rows[] = {
        {"{\"error\":{\"code\":190,\"type\":\"OAuthException\"}}", "190"},
        {"{\"error\":{\"code\":\"\",\"type\":\"OAuthException\"}}", "OAuthException"},
        {"{\"error\":{\"code\":400,\"type\":\"invalid_grant\"}}", "invalid_grant"},
        {"{\"errors\":[{\"status\":\"401\",\"title\":\"t\"}]}", "401"},
        {"{\"error\":{\"code\":{\"a\":1}}}", "an error without a code"},
        {"{\"error\":{\"code\":\"a\\nb\"}}", "a?b"},
    };
    /* clang-format on */
    const struct client_reading reading = {.access_token_pointer = NULL};
    EACH(i, rows)
    is_str(read_text(mem, &reading, 400, rows[i].body).error, rows[i].wanted, "M6: %s",
           rows[i].body);
}

/* Answers that are forms (world.md M7). */
static void
check_forms(TALLOC_CTX *mem)
{
    /* clang-format off */
    static const struct { int status; const char *body; enum client_outcome wanted; const char *name; } rows[] = {
        {200, "access_token=a%2Bb&token_type=bearer&scope=x+y&expires_in=60", CLIENT_TOKENS, "a form"},
        {200, "access_token=a%2Bb&refresh_token=&id_token=&scope=&expires_in=", CLIENT_TOKENS, "... with values that are empty"},
        {200, "error=bad_refresh_token&error_description=x", CLIENT_GRANT_REFUSED, "... an error (GitHub)"},
        {400, "error=what", CLIENT_REFUSED, "... an error that is not known"},
        {200, "access_token=a&access_token=a", CLIENT_MALFORMED, "a name that comes twice"},
        {200, "access_token=a&x=&x=1", CLIENT_MALFORMED, "... first without a value"},
        {200, "access_token=a%0d%0aX", CLIENT_MALFORMED, "a token that begins a header"},
        {200, "access_token=a%00b", CLIENT_MALFORMED, "a NUL"},
        {200, "access_token=a%ff", CLIENT_MALFORMED, "no UTF-8"},
        {200, "access_token=a&x=%", CLIENT_MALFORMED, "a lone percent sign"},
        {200, "refresh_token=a", CLIENT_MALFORMED, "no access token"},
        {200, "", CLIENT_MALFORMED, "nothing"},
        {200, "{\"access_token\":\"a+b\"}", CLIENT_TOKENS, "JSON under this name"},
    };
    /* clang-format on */
    const char *type = "application/x-www-form-urlencoded";
    const struct client_reading reading = {.default_expires_in = 5};
    EACH(i, rows)
    {
        struct client_answer got = read_typed(mem, &reading, rows[i].status, type, rows[i].body);
        is_int(got.outcome, rows[i].wanted, "M7: %s", rows[i].name);
        if (got.outcome == CLIENT_TOKENS)
            is_str(got.tokens.access_token, "a+b", "... its token");
    }
    struct client_answer got = read_typed(mem, &reading, 200, type, rows[0].body);
    is_int(got.tokens.expires_in, 60, "M7: expires_in of a form");
    is_str(jsonx_dump(mem, got.tokens.scopes), "[\"x\",\"y\"]", "M7: ... and its scopes");
    got = read_typed(mem, &reading, 200, type, rows[1].body);
    ok(got.tokens.refresh_token == NULL && got.tokens.id_token == NULL && got.tokens.scopes == NULL
           && got.tokens.expires_in == 5,
       "M7: \"\" of refresh_token, id_token, scope and expires_in is absent");
    is_int(read_text(mem, &reading, 200, rows[0].body).outcome, CLIENT_MALFORMED,
           "M7: a form of another media type is not guessed");
    for (int more = 0; more < 2; more++) {
        char *body = talloc_strdup(mem, "access_token=a");
        for (int i = 1; i < CLIENT_FORM_PAIRS_MAX + more; i++)
            body = talloc_asprintf_append(body, "&p%d=v", i);
        is_int(read_typed(mem, &reading, 200, type, body).outcome,
               more == 0 ? CLIENT_TOKENS : CLIENT_MALFORMED, "M7: CLIENT_FORM_PAIRS_MAX%s",
               more == 0 ? "" : " and one more");
    }
}

static void
check_scopes(TALLOC_CTX *mem)
{
    is_str(jsonx_dump(mem, client_scopes_split(mem, "a b,c  a", NULL)), "[\"a\",\"b\",\"c\"]",
           "scopes are separated by spaces or commas (GitHub), once each");
    is_str(jsonx_dump(mem, client_scopes_split(mem, "a;b", ";")), "[\"a\",\"b\"]",
           "... or by scopeSeparator");
    is_str(jsonx_dump(mem, client_scopes_split(mem, NULL, NULL)), "[]", "... or there are none");
    json_t *asked = client_scopes_split(mem, "openid offline_access a b", NULL);
    is_str(jsonx_dump(mem, client_scopes_missing(mem, asked, client_scopes_split(mem, "b", NULL))),
           "[\"a\"]", "a scope that was not granted is missing, those of OpenID Connect never");
    is_str(jsonx_dump(mem, client_scopes_missing(mem, NULL, NULL)), "[]",
           "where nothing is asked for, nothing is missing");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    check_answers(mem);
    check_bearer(mem);
    check_id_token(mem);
    check_empty(mem);
    check_error_text(mem);
    check_forms(mem);
    check_scopes(mem);
    talloc_free(mem);
    return done();
}
