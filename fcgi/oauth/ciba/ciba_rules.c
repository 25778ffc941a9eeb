#include "config.h"

#include "oauth/ciba/ciba_rules.h"

#include <string.h>

#include "base/digits.h"
#include "base/settings/settings.h"
#include "base/utf8.h"
#include "base/visible.h"

/* The clock of a provider may be this far ahead. Seconds. */
#define CALLBACK_CLOCK_SKEW 60

/* Read `idpId:sub`. An idpId has no colon, so the first one ends it. */
static bool
read_provider(TALLOC_CTX *mem, const char *text, struct ciba_hint *hint)
{
    size_t length = strcspn(text, ":");
    if (length == 0 || text[length] == '\0' || text[length + 1] == '\0')
        return true;
    hint->idp_id = talloc_strndup(mem, text, length);
    hint->upstream_sub = text + length + 1;
    return hint->idp_id != NULL;
}

bool
ciba_hint_read(TALLOC_CTX *mem, const char *text, struct ciba_hint *ret)
{
    const char *at = strchr(text, '@');
    struct ciba_hint hint = {.sub = text};
    if (strlen(text) > LOGIN_HINT_MAX || !read_provider(mem, text, &hint))
        return false;
    if (at != NULL && at != text && at[1] != '\0')
        hint.email = text;
    *ret = hint;
    return true;
}

const char *
ciba_binding_fault(const char *text)
{
    if (utf8_length(text, strlen(text)) > BINDING_MESSAGE_MAX)
        return "binding_message is longer than 64 characters";
    return visible_fault(text) != NULL ? "binding_message has characters that cannot be seen"
                                       : NULL;
}
_Static_assert(BINDING_MESSAGE_MAX == 64, "the text of ciba_binding_fault() says the number");

bool
ciba_expiry_read(const char *text, int64_t otherwise, int64_t *ret)
{
    int64_t seconds = otherwise;
    size_t length = text != NULL ? strlen(text) : 0;
    if (text != NULL
        && (digits_take(text, length, SETTINGS_AUTH_REQ_MOST, &seconds) != length || seconds < 1))
        return false;
    *ret = text != NULL && seconds < SETTINGS_AUTH_REQ_LEAST ? SETTINGS_AUTH_REQ_LEAST : seconds;
    return true;
}

enum az_status
ciba_poll_judge(const struct ciba_poll *poll, int64_t client)
{
    if (!poll->owner.found || poll->owner.client.id != client)
        return AZ_INVALID_GRANT;
    if (poll->state == CIBA_CONSUMED)
        return AZ_INVALID_GRANT;
    if (poll->state == CIBA_DENIED)
        return AZ_USER_DENIED;
    if (poll->expired)
        return AZ_EXPIRED_TOKEN;
    if (poll->state == CIBA_APPROVED)
        return AZ_OK;
    return poll->early ? AZ_SLOW_DOWN : AZ_AUTHORIZATION_PENDING;
}

static const char *const callback_words[] = {"SUCCEED",  "UNAUTHORIZED", "CANCELLED",
                                             "approved", "denied",       NULL};

/* clang-format off */
static const struct field callback_fields[] = {
    {"status",    FIELD_TEXT,    .required = true, .words = callback_words,
     FIELD_INTO(struct ciba_callback, status),
     .help = "Answer of the person; the words in capitals are those of Keycloak",
     .example = "\"approved\""},
    {"sub",       FIELD_TEXT,    .max = 255, FIELD_INTO(struct ciba_callback, sub),
     .help = "sub of the person at the identity provider; another person's answer is refused",
     .example = "\"alice\""},
    {"acr",       FIELD_TEXT,    .max = CIBA_ACR_MAX, FIELD_INTO(struct ciba_callback, acr),
     .help = "Class of the authentication, for policy and the ID token",
     .example = "\"urn:loa:2\""},
    {"auth_time", FIELD_INTEGER, .min = 1, .max = INT64_C(253402300799),
     FIELD_INTO(struct ciba_callback, auth_time),
     .help = "Time of the authentication, in seconds since 1970", .example = "1767225600"},
};
/* clang-format on */
const struct field_table ciba_callback_table =
    FIELD_TABLE(NULL, callback_fields, FIELDS_IGNORE_UNKNOWN);

bool
ciba_callback_approves(const struct ciba_callback *callback)
{
    return strcmp(callback->status, "SUCCEED") == 0 || strcmp(callback->status, "approved") == 0;
}

const char *
ciba_callback_fault(const struct ciba_callback *callback, int64_t now)
{
    return callback->auth_time > now + CALLBACK_CLOCK_SKEW ? "auth_time is in the future" : NULL;
}
