#include "config.h"

#include "gateway/link/answer.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/digits.h"
#include "base/json/json_pointer.h"
#include "base/json/jsonx.h"
#include "base/visible.h"
#include "base/words.h"

/* Octets of an error code that the operator's log shows. */
#define ERROR_SHOWN_MAX 64
/* The place of the access token in an answer of RFC 6749. */
#define ACCESS_TOKEN_POINTER "/access_token"

/* Scopes that say what an OpenID provider tells, and nothing about the API of the upstream. */
static const char *const openid_scopes[] = {"openid", "profile", "email", "offline_access", NULL};

/* Return the object that holds the access token: its neighbours belong to it (Slack's answer has a
 * bot's token at the root, and a person's below authed_user). */
static const json_t *
token_object(TALLOC_CTX *mem, const json_t *answer, const char *pointer)
{
    const char *last = strrchr(pointer, '/');
    const char *parent =
        last != NULL ? talloc_strndup(mem, pointer, (size_t) (last - pointer)) : NULL;
    return parent != NULL ? json_pointer_get(answer, parent) : NULL;
}

/* ---- scopes */

static bool
is_separator(char c, const char *separator)
{
    return c == ' ' || c == ',' || (separator != NULL && c != '\0' && strchr(separator, c) != NULL);
}

json_t *
link_scopes_split(TALLOC_CTX *mem, const char *text, const char *separator)
{
    struct jsonx_build list = {jsonx_own(mem, json_array()), false};
    while (text != NULL && *text != '\0' && json_array_size(list.value) < LINK_SCOPES_MAX) {
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
link_scopes_missing(TALLOC_CTX *mem, const json_t *asked, const json_t *granted)
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

/* Read `scope`: a text, or an array of texts. NULL in *ret: the answer does not say. */
static enum az_status
read_scopes(TALLOC_CTX *mem, const struct link_reading *reading, const json_t *scope, json_t **ret)
{
    *ret = NULL;
    if (json_is_string(scope))
        *ret = link_scopes_split(mem, json_string_value(scope), reading->scope_separator);
    else if (json_is_array(scope) && json_array_size(scope) <= LINK_SCOPES_MAX)
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
    if (text == NULL || *text == '\0' || json_string_length(value) > LINK_TOKEN_MAX
        || strlen(text) != json_string_length(value))
        return false;
    for (; *text != '\0'; text++)
        if (*text <= 0x20 || *text >= 0x7f)
            return false;
    return true;
}

/* Return the life of a token in seconds: a number, or digits in a text as some providers send. */
static int64_t
read_expires_in(const json_t *value, int64_t otherwise)
{
    int64_t seconds = 0;
    if (json_is_integer(value))
        seconds = json_integer_value(value);
    else if (json_is_real(value) && json_real_value(value) >= 1)
        seconds = json_real_value(value) < LINK_EXPIRES_MAX ? (int64_t) json_real_value(value)
                                                            : LINK_EXPIRES_MAX;
    else if (json_is_string(value))
        digits_read(json_string_value(value), LINK_EXPIRES_MAX, &seconds);
    if (seconds <= 0)
        return otherwise;
    return seconds < LINK_EXPIRES_MAX ? seconds : LINK_EXPIRES_MAX;
}

/* Return the label of the account as a page can show it, or NULL. It is a number at some
 * providers. */
static const char *
read_account(TALLOC_CTX *mem, const struct link_reading *reading, const json_t *answer)
{
    const json_t *value = reading->account_pointer != NULL
                              ? json_pointer_get(answer, reading->account_pointer)
                              : NULL;
    if (json_is_integer(value))
        return talloc_asprintf(mem, "%lld", (long long) json_integer_value(value));
    const char *text = json_string_value(value);
    return text != NULL && *text != '\0' && strlen(text) <= LINK_ACCOUNT_MAX
                   && visible_fault(text) == NULL
               ? text
               : NULL;
}

static enum az_status
read_tokens(TALLOC_CTX *mem, const struct link_reading *reading, const json_t *answer,
            enum link_outcome *ret_outcome, struct link_tokens *ret)
{
    const char *pointer = reading->access_token_pointer != NULL ? reading->access_token_pointer
                                                                : ACCESS_TOKEN_POINTER;
    const json_t *access = json_pointer_get(answer, pointer);
    const json_t *object = token_object(mem, answer, pointer);
    const json_t *refresh = json_object_get(object, "refresh_token");
    const char *type = json_string_value(json_object_get(object, "token_type"));
    *ret_outcome = LINK_MALFORMED;
    /* RFC 6749 section 7.1: a token of an unknown type must not be used. A provider whose answer
     * has another form has types of its own too. */
    if (!is_token(access) || (refresh != NULL && !json_is_null(refresh) && !is_token(refresh))
        || (strcmp(pointer, ACCESS_TOKEN_POINTER) == 0 && type != NULL
            && strcasecmp(type, "Bearer") != 0))
        return AZ_OK;
    *ret = (struct link_tokens){
        .access_token = json_string_value(access),
        .refresh_token = json_string_value(refresh),
        .expires_in =
            read_expires_in(json_object_get(object, "expires_in"), reading->default_expires_in),
        .account = read_account(mem, reading, answer),
    };
    *ret_outcome = LINK_TOKENS;
    return read_scopes(mem, reading, json_object_get(object, "scope"), &ret->scopes);
}

/* ---- errors */

static enum link_outcome
error_outcome(const char *error)
{
    /* clang-format off */
    static const struct {
        const char *error;
        enum link_outcome outcome;
    } rows[] = {
        {"invalid_grant",         LINK_GRANT_REFUSED},
        {"bad_refresh_token",     LINK_GRANT_REFUSED}, /* GitHub */
        {"bad_verification_code", LINK_GRANT_REFUSED}, /* GitHub */
        {"invalid_refresh_token", LINK_GRANT_REFUSED}, /* Slack */
        {"token_revoked",         LINK_GRANT_REFUSED}, /* Slack */
        {"invalid_client",        LINK_CLIENT_REFUSED},
        {"unauthorized_client",   LINK_CLIENT_REFUSED},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].error, error) == 0)
            return rows[i].outcome;
    return LINK_FAILED;
}

/* Return the printable beginning of an error code. */
static const char *
shown_error(TALLOC_CTX *mem, const char *error)
{
    char *shown = talloc_strndup(mem, error, ERROR_SHOWN_MAX);
    for (char *c = shown; c != NULL && *c != '\0'; c++)
        if (*c < 0x20 || *c > 0x7e)
            *c = '?';
    return shown != NULL ? shown : "";
}

enum az_status
link_answer_read(TALLOC_CTX *mem, const struct link_reading *reading, int status, const char *body,
                 size_t length, enum link_outcome *ret_outcome, struct link_tokens *ret,
                 const char **ret_error)
{
    json_t *answer = NULL;
    *ret = (struct link_tokens){.access_token = NULL};
    *ret_error = "";
    enum az_status st = jsonx_parse(mem, body, length, LINK_ANSWER_DEPTH_MAX, &answer, NULL);
    if (st == AZ_SERVER_ERROR)
        return st;
    /* An error of the server itself may have any body. */
    *ret_outcome = status >= 500 ? LINK_FAILED : LINK_MALFORMED;
    if (st != AZ_OK || !json_is_object(answer))
        return AZ_OK;
    const char *error = json_string_value(json_object_get(answer, "error"));
    if (error != NULL) {
        *ret_error = shown_error(mem, error);
        *ret_outcome = status >= 500 ? LINK_FAILED : error_outcome(error);
        return AZ_OK;
    }
    if (status < 200 || status > 299 || json_is_false(json_object_get(answer, "ok")))
        return AZ_OK;
    return read_tokens(mem, reading, answer, ret_outcome, ret);
}
