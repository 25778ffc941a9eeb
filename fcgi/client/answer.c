#include "config.h"

#include "client/answer.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/digits.h"
#include "base/json/json_pointer.h"
#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "base/words.h"
#include "http/form.h"

/* Longest part of an error code that the log shows, in octets. */
#define ERROR_SHOWN_MAX 64
/* The place of the access token in an answer of RFC 6749. */
#define ACCESS_TOKEN_POINTER "/access_token"

/* Scopes of OpenID Connect, which do not give access to the API of the upstream. */
static const char *const openid_scopes[] = {"openid", "profile", "email", "offline_access", NULL};

/* Return the object that holds the access token: its neighbours belong to it (Slack's answer has a
 * bot's token at the root, and a person's below authed_user). */
static json_t *
token_object(TALLOC_CTX *mem, const json_t *answer, const char *pointer)
{
    const char *last = strrchr(pointer, '/');
    const char *parent =
        last != NULL ? talloc_strndup(mem, pointer, (size_t) (last - pointer)) : NULL;
    return parent != NULL ? (json_t *) (uintptr_t) json_pointer_get(answer, parent) : NULL;
}

/* ---- scopes */

static bool
is_separator(char c, const char *separator)
{
    return c == ' ' || c == ',' || (separator != NULL && c != '\0' && strchr(separator, c) != NULL);
}

json_t *
client_scopes_split(TALLOC_CTX *mem, const char *text, const char *separator)
{
    struct jsonx_build list = {jsonx_own(mem, json_array()), false};
    while (text != NULL && *text != '\0' && json_array_size(list.value) < CLIENT_SCOPES_MAX) {
        size_t length = 0;
        while (text[length] != '\0' && !is_separator(text[length], separator))
            length++;
        json_t *word = length > 0 ? json_stringn(text, length) : NULL;
        if (word != NULL && words_array_has(list.value, json_string_value(word)))
            json_decref(word);
        else if (length > 0)
            jsonx_append(&list, word);
        text += length + (text[length] != '\0');
    }
    return jsonx_built(&list);
}

json_t *
client_scopes_missing(TALLOC_CTX *mem, const json_t *asked, const json_t *granted)
{
    struct jsonx_build list = {jsonx_own(mem, json_array()), false};
    size_t i;
    json_t *scope;
    json_array_foreach (asked, i, scope)
        if (json_is_string(scope) && !words_has(openid_scopes, json_string_value(scope))
            && !words_array_has(granted, json_string_value(scope)))
            jsonx_append(&list, json_incref(scope));
    return jsonx_built(&list);
}

/* Read `scope`: a text, or an array of texts. *ret is NULL if the answer has none. */
static enum az_status
read_scopes(TALLOC_CTX *mem, const struct client_reading *reading, const json_t *scope,
            json_t **ret)
{
    *ret = NULL;
    if (json_is_string(scope))
        *ret = client_scopes_split(mem, json_string_value(scope), reading->scope_separator);
    else if (json_is_array(scope) && json_array_size(scope) <= CLIENT_SCOPES_MAX)
        *ret = words_array_once(mem, scope);
    else
        return AZ_OK;
    return *ret != NULL ? AZ_OK : AZ_SERVER_ERROR;
}

/* ---- tokens */

/* True if a token can stand in a header (b64token, RFC 6750 section 2.1, and what providers use
 * besides); other characters could begin a new header. */
static bool
is_token(const json_t *value)
{
    const char *text = json_string_value(value);
    if (text == NULL || *text == '\0' || json_string_length(value) > CLIENT_TOKEN_MAX
        || strlen(text) != json_string_length(value))
        return false;
    for (; *text != '\0'; text++)
        if (*text <= 0x20 || *text >= 0x7f)
            return false;
    return true;
}

/* Return the lifetime of a token in seconds: a number, or digits in a text as some providers send.
 */
static int64_t
read_expires_in(const json_t *value, int64_t otherwise)
{
    int64_t seconds = 0;
    if (json_is_integer(value))
        seconds = json_integer_value(value);
    else if (json_is_real(value) && json_real_value(value) >= 1)
        seconds = json_real_value(value) < CLIENT_EXPIRES_MAX ? (int64_t) json_real_value(value)
                                                              : CLIENT_EXPIRES_MAX;
    else if (json_is_string(value))
        digits_read(json_string_value(value), CLIENT_EXPIRES_MAX, &seconds);
    if (seconds <= 0)
        return otherwise;
    return seconds < CLIENT_EXPIRES_MAX ? seconds : CLIENT_EXPIRES_MAX;
}

/* Return the label of the account as a page can show it, or NULL. It is a number at some
 * providers. */
static const char *
read_account(TALLOC_CTX *mem, const struct client_reading *reading, const json_t *answer)
{
    const json_t *value = reading->account_pointer != NULL
                              ? json_pointer_get(answer, reading->account_pointer)
                              : NULL;
    if (json_is_integer(value))
        return talloc_asprintf(mem, "%lld", (long long) json_integer_value(value));
    const char *text = json_string_value(value);
    return text != NULL && *text != '\0' && strlen(text) <= CLIENT_ACCOUNT_MAX
                   && visible_fault(text) == NULL
               ? text
               : NULL;
}

/* The members beside the access token, which are taken if they are texts. */
/* clang-format off */
static const struct {
    const char *name;
    size_t offset;
    bool sent; /* it is sent in later requests, so the answer is malformed if it is not a token */
} members[] = {
    {"refresh_token",     offsetof(struct client_tokens, refresh_token), true },
    {"id_token",          offsetof(struct client_tokens, id_token),      false},
    {"issued_token_type", offsetof(struct client_tokens, issued_type),   false},
    {"token_type",        offsetof(struct client_tokens, token_type),    false},
};
/* clang-format on */

/* Read the members; false: one of them is malformed. */
static bool
read_members(const json_t *object, struct client_tokens *ret)
{
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const json_t *value = json_object_get(object, members[i].name);
        const char *text = json_string_value(value);
        if (members[i].sent && value != NULL && !json_is_null(value) && !is_token(value))
            return false;
        *(const char **) (void *) ((char *) ret + members[i].offset) = text;
    }
    return true;
}

static bool
is_bearer(const char *type)
{
    return type != NULL && strcasecmp(type, "Bearer") == 0;
}

/* Read the access token; false: the answer is malformed. RFC 6749 7.1: a token of an unknown type
 * must not be used. */
static bool
read_access_token(const struct client_reading *reading, const json_t *access, bool usual,
                  struct client_tokens *ret)
{
    bool fits = is_token(access), bearer = ret->token_type == NULL || is_bearer(ret->token_type);
    if (reading->access_optional) {
        ret->access_token = fits && bearer ? json_string_value(access) : NULL;
        return access == NULL || fits || !bearer;
    }
    ret->access_token = fits ? json_string_value(access) : NULL;
    return fits && (bearer || (!usual && !reading->bearer));
}

static enum az_status
read_tokens(TALLOC_CTX *mem, const struct client_reading *reading, const json_t *answer,
            struct client_answer *ret)
{
    const char *pointer = reading->access_token_pointer != NULL ? reading->access_token_pointer
                                                                : ACCESS_TOKEN_POINTER;
    json_t *object = token_object(mem, answer, pointer);
    struct client_tokens tokens = {.access_token = NULL};
    ret->outcome = CLIENT_MALFORMED;
    jsonx_drop_empty(object);
    if (!read_members(object, &tokens)
        || !read_access_token(reading, json_pointer_get(answer, pointer),
                              strcmp(pointer, ACCESS_TOKEN_POINTER) == 0, &tokens))
        return AZ_OK;
    tokens.expires_in =
        read_expires_in(json_object_get(object, "expires_in"), reading->default_expires_in);
    tokens.account = read_account(mem, reading, answer);
    ret->tokens = tokens;
    ret->outcome = CLIENT_TOKENS;
    return read_scopes(mem, reading, json_object_get(object, "scope"), &ret->tokens.scopes);
}

/* ---- errors */

/* Codes that say what has ended, or that nothing has: the request is what is wrong, or the server
 * for now. Many servers say invalid_request for a refresh token that has ended, so that code is not
 * here.
 */
static bool
error_outcome(const char *error, enum client_outcome *ret)
{
    /* clang-format off */
    static const struct {
        const char *error;
        enum client_outcome outcome;
    } rows[] = {
        {"invalid_grant",           CLIENT_GRANT_REFUSED},
        {"bad_refresh_token",       CLIENT_GRANT_REFUSED}, /* GitHub */
        {"bad_verification_code",   CLIENT_GRANT_REFUSED}, /* GitHub */
        {"invalid_refresh_token",   CLIENT_GRANT_REFUSED}, /* Slack */
        {"token_revoked",           CLIENT_GRANT_REFUSED}, /* Slack */
        {"invalid_client",          CLIENT_CLIENT_REFUSED},
        {"unauthorized_client",     CLIENT_CLIENT_REFUSED},
        {"invalid_scope",           CLIENT_FAILED},
        {"invalid_target",          CLIENT_FAILED}, /* RFC 8707 2 */
        {"unsupported_grant_type",  CLIENT_FAILED},
        {"server_error",            CLIENT_FAILED},
        {"temporarily_unavailable", CLIENT_FAILED},
        {"slow_down",               CLIENT_FAILED}, /* RFC 8628 3.5 */
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].error, error) == 0) {
            *ret = rows[i].outcome;
            return true;
        }
    return false;
}

/* Return the printable beginning of an error code. */
static const char *
shown_error(TALLOC_CTX *mem, const char *error)
{
    char *shown = utf8_strndup(mem, error, ERROR_SHOWN_MAX);
    for (char *c = shown; c != NULL && *c != '\0'; c++)
        if (*c < 0x20 || *c > 0x7e)
            *c = '?';
    return shown != NULL ? shown : "";
}

/* Return a text, or a number as a text; NULL: neither. */
static const char *
error_text(TALLOC_CTX *mem, const json_t *value)
{
    return json_is_integer(value)
               ? talloc_asprintf(mem, "%lld", (long long) json_integer_value(value))
               : json_string_value(value);
}

/* Return the code of an error that is an object: the first of its members that is a known code, or
 * else the first that is there. */
static const char *
error_of_object(TALLOC_CTX *mem, json_t *error)
{
    static const char *const names[] = {"code", "type", "status"};
    const char *first = NULL;
    enum client_outcome outcome;
    jsonx_drop_empty(error);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *text = error_text(mem, json_object_get(error, names[i]));
        if (text != NULL && error_outcome(text, &outcome))
            return text;
        first = first != NULL ? first : text;
    }
    return first != NULL ? first : "an error without a code";
}

/* Return the code of an error (RFC 6749 5.2), or NULL: the answer is none. Many APIs answer all
 * faults in a form of their own: an object, or the first of a list `errors` (JSON:API). */
static const char *
read_error(TALLOC_CTX *mem, const json_t *answer)
{
    json_t *error = json_object_get(answer, "error");
    if (!json_is_string(error) && !json_is_object(error))
        error = json_array_get(json_object_get(answer, "errors"), 0);
    return json_is_object(error) && json_object_size(error) > 0 ? error_of_object(mem, error)
                                                                : json_string_value(error);
}

/* Return the meaning of an answer without tokens; `error` may be NULL. A server that fails (500 and
 * more), or has too many requests (429), refuses nothing. */
static enum client_outcome
refusal_outcome(int status, const char *error)
{
    enum client_outcome outcome;
    if (status >= 500 || status == 429)
        return CLIENT_FAILED;
    if (error != NULL && error_outcome(error, &outcome))
        return outcome;
    if (status == 400 || status == 401 || status == 403)
        return CLIENT_REFUSED;
    return error != NULL ? CLIENT_FAILED : CLIENT_MALFORMED;
}

/* ---- the text */

/* Read a form as an object of texts; *ret is NULL if it is malformed. A name that comes twice has
 * no value that was meant (RFC 6749 3.2). */
static enum az_status
parse_form(TALLOC_CTX *mem, const struct fetch_answer *got, json_t **ret)
{
    json_t *object = jsonx_own(mem, json_object());
    const char *pair = got->body, *end = got->body + got->length;
    enum az_status st = object != NULL ? AZ_OK : AZ_SERVER_ERROR;
    for (size_t count = 0; st == AZ_OK && pair < end; count++) {
        const char *next = memchr(pair, '&', (size_t) (end - pair));
        const char *stop = next != NULL ? next : end;
        char *name = NULL, *value = NULL;
        st = request_decode_pair(mem, pair, (size_t) (stop - pair), &name, &value);
        if (st == AZ_OK
            && (count == CLIENT_FORM_PAIRS_MAX || json_object_get(object, name) != NULL))
            st = AZ_INVALID;
        else if (st == AZ_OK && json_object_set_new(object, name, json_string(value)) != 0)
            st = AZ_SERVER_ERROR;
        pair = next != NULL ? next + 1 : end;
    }
    *ret = st == AZ_OK ? object : NULL;
    return st;
}

/* Read the text by its media type. JSON under the name of a form is JSON, as some servers send. */
static enum az_status
parse_answer(TALLOC_CTX *mem, const struct fetch_answer *got, json_t **ret)
{
    return strcmp(got->content_type, "application/x-www-form-urlencoded") == 0 && *got->body != '{'
               ? parse_form(mem, got, ret)
               : jsonx_parse(mem, got->body, got->length, CLIENT_ANSWER_DEPTH_MAX, ret, NULL);
}

enum az_status
client_answer_read(TALLOC_CTX *mem, const struct client_reading *reading,
                   const struct fetch_answer *got, struct client_answer *ret)
{
    json_t *answer = NULL;
    *ret = (struct client_answer){.error = ""};
    enum az_status st = parse_answer(mem, got, &answer);
    if (st == AZ_SERVER_ERROR)
        return st;
    ret->outcome = refusal_outcome(got->status, NULL);
    if (st != AZ_OK || !json_is_object(answer))
        return AZ_OK;
    jsonx_drop_empty(answer);
    const char *error = read_error(mem, answer);
    if (error != NULL) {
        ret->error = shown_error(mem, error);
        ret->outcome = refusal_outcome(got->status, error);
        return AZ_OK;
    }
    if (got->status < 200 || got->status > 299 || json_is_false(json_object_get(answer, "ok")))
        return AZ_OK;
    return read_tokens(mem, reading, answer, ret);
}
