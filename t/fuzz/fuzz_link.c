/* Texts of browsers and upstreams for links of accounts: the state, return_to, and the answer of a
 * token endpoint, the challenge of an upstream. The first octet names one of them. */
#include "config.h"

#include <string.h>

#include "client/answer.h"
#include "fuzz/fuzz.h"
#include "gateway/link/need.h"
#include "gateway/link/state.h"
#include "gateway/upstream/challenge.h"

/* Both keys are known, so that the corpus has states that are read. */
static void
check_state(const char *text)
{
    struct link_keys keys = {.count = 2};
    struct link_state state;
    char again[LINK_STATE_SIZE];
    MUST(link_key_derive("fuzz", keys.key[0]) == AZ_OK);
    MUST(link_key_derive("zzuf", keys.key[1]) == AZ_OK);
    if (link_state_read(&keys, text, &state) != AZ_OK)
        return;
    MUST(state.expires_at >= 0);
    if (link_state_make(&keys, &state, again) == AZ_OK && strcmp(again, text) == 0)
        return;
    memcpy(keys.key[0], keys.key[1], SHA256_OCTETS);
    MUST(link_state_make(&keys, &state, again) == AZ_OK && strcmp(again, text) == 0);
}

static void
check_return(TALLOC_CTX *mem, const char *text)
{
    if (!link_return_is_ours(mem, text))
        return;
    MUST(text[0] == '/' && text[1] != '/' && strlen(text) <= LINK_RETURN_MAX);
    for (const char *c = text; *c != '\0'; c++)
        MUST(*c > 0x20 && *c < 0x7f && *c != '\\' && *c != '#');
}

static void
check_token(const char *token)
{
    MUST(*token != '\0' && strlen(token) <= CLIENT_TOKEN_MAX);
    for (const char *c = token; *c != '\0'; c++)
        MUST(*c > 0x20 && *c < 0x7f);
}

static void
check_answer(TALLOC_CTX *mem, const char *text, size_t length, const char *pointer,
             const char *type)
{
    const struct client_reading reading = {.access_token_pointer = pointer,
                                           .account_pointer = "/account"};
    const struct fetch_answer got = {
        .status = 200, .content_type = type, .body = text, .length = length};
    struct client_answer answer;
    const struct client_tokens *tokens = &answer.tokens;
    MUST(client_answer_read(mem, &reading, &got, &answer) == AZ_OK);
    MUST((answer.outcome == CLIENT_TOKENS) == (tokens->access_token != NULL));
    MUST(answer.error != NULL);
    if (answer.outcome != CLIENT_TOKENS)
        return;
    check_token(tokens->access_token);
    if (tokens->refresh_token != NULL)
        check_token(tokens->refresh_token);
    MUST(tokens->expires_in >= 0 && tokens->expires_in <= CLIENT_EXPIRES_MAX);
    MUST(tokens->scopes == NULL || json_array_size(tokens->scopes) <= CLIENT_SCOPES_MAX);
    MUST(tokens->account == NULL || strlen(tokens->account) <= CLIENT_ACCOUNT_MAX);
}

static void
check_challenge(TALLOC_CTX *mem, const char *text)
{
    json_t *scopes = upstream_challenge_scopes(mem, text);
    const char *url = upstream_challenge_param(mem, text, "resource_metadata");
    MUST(scopes == NULL || json_array_size(scopes) <= CLIENT_SCOPES_MAX);
    MUST(url == NULL || strlen(url) <= strlen(text));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    char *text = size > 0 ? talloc_strndup(mem, (const char *) data + 1, size - 1) : NULL;
    if (text != NULL && data[0] == 's')
        check_state(text);
    else if (text != NULL && data[0] == 'r')
        check_return(mem, text);
    else if (text != NULL && data[0] == 'c')
        check_challenge(mem, text);
    else if (text != NULL)
        check_answer(mem, text, strlen(text), data[0] == 'p' ? "/a/0/~1b" : NULL,
                     data[0] == 'f' ? "application/x-www-form-urlencoded" : "application/json");
    talloc_free(mem);
    return 0;
}
