/* Texts of clients and identity providers for CIBA: login_hint, binding_message, requested_expiry,
 * and the body of a callback. The first octet names one of them. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "fuzz/fuzz.h"
#include "oauth/ciba/ciba_rules.h"

static void
check_hint(TALLOC_CTX *mem, const char *text)
{
    struct ciba_hint hint;
    bool read = ciba_hint_read(mem, text, &hint);
    MUST(read == (strlen(text) <= LOGIN_HINT_MAX));
    if (!read)
        return;
    MUST(hint.sub == text && (hint.idp_id == NULL) == (hint.upstream_sub == NULL));
    if (hint.idp_id != NULL) {
        const char *joined = talloc_asprintf(mem, "%s:%s", hint.idp_id, hint.upstream_sub);
        MUST(strcmp(joined, text) == 0 && strchr(hint.idp_id, ':') == NULL);
        MUST(*hint.idp_id != '\0' && *hint.upstream_sub != '\0');
    }
    MUST(hint.email == NULL || (hint.email == text && strchr(text, '@') > text));
}

static void
check_expiry(const char *text)
{
    int64_t seconds = -1;
    bool read = ciba_expiry_read(text, 300, &seconds);
    MUST(read == (seconds != -1));
    MUST(!read || (seconds >= SETTINGS_AUTH_REQ_LEAST && seconds <= SETTINGS_AUTH_REQ_MOST));
}

static void
check_callback(TALLOC_CTX *mem, const char *text)
{
    struct ciba_callback callback = {.status = NULL};
    json_t *body = NULL;
    if (jsonx_parse(mem, text, strlen(text), 32, &body, NULL) != AZ_OK || !json_is_object(body))
        return;
    if (fields_read(mem, &ciba_callback_table, body, NULL, NULL, &callback, NULL) != AZ_OK)
        return;
    MUST(strcmp(callback.status, json_string_value(json_object_get(body, "status"))) == 0);
    MUST(ciba_callback_approves(&callback)
         == (strcmp(callback.status, "SUCCEED") == 0 || strcmp(callback.status, "approved") == 0));
    MUST(callback.auth_time >= 0);
    MUST(callback.acr == NULL || utf8_length(callback.acr, strlen(callback.acr)) <= CIBA_ACR_MAX);
    ciba_callback_fault(&callback, 1795172300);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *text = size > 0 ? talloc_strndup(mem, (const char *) data + 1, size - 1) : "";
    switch (size > 0 ? data[0] : 0) {
    case 'h':
        check_hint(mem, text);
        break;
    case 'm':
        if (utf8_valid(text, strlen(text)) && ciba_binding_fault(text) == NULL)
            MUST(utf8_length(text, strlen(text)) <= BINDING_MESSAGE_MAX
                 && visible_fault(text) == NULL);
        break;
    case 'e':
        check_expiry(text);
        break;
    case 'c':
        check_callback(mem, text);
        break;
    default:
        break;
    }
    talloc_free(mem);
    return 0;
}
