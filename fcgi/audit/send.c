#include "config.h"

#include "audit/send.h"

#include <gnutls/gnutls.h>
#include <string.h>

#include "base/settings/settings.h"

/* The statuses that mean something else than "later". */
static const struct {
    int status;
    enum send_outcome outcome;
    const char *hint;
} meanings[] = {
    {400, SEND_DENIED, ""                      },
    {401, SEND_HELD,   "; check the credential"},
    {403, SEND_HELD,   "; check the credential"},
    {404, SEND_HELD,   "; check the address"   },
    {413, SEND_DENIED, ""                      },
};

/* Return what an answer means, and a hint. */
static enum send_outcome
meaning_of(int status, const char **ret_hint)
{
    *ret_hint = "";
    if (status >= 200 && status < 300)
        return SEND_TAKEN;
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
        if (meanings[i].status == status) {
            *ret_hint = meanings[i].hint;
            return meanings[i].outcome;
        }
    return SEND_LATER;
}

struct sent
send_post(struct op *op, const char *name, const struct fetch_request *request, const char *header)
{
    struct sent sent = {.outcome = SEND_LATER, .error = "out of memory"};
    struct fetch_request asked = *request;
    const char *hint;
    char *field = NULL;
    asked.hosts = FETCH_SAFE_HTTP;
    asked.secret_path = true;
    asked.max_octets = SEND_ANSWER_MAX;
    asked.timeout = op->az->cfg->safe_http_timeout;
    if (header != NULL) {
        if ((field = talloc_strdup(op->mem, header)) == NULL)
            return sent;
        char *value = field + strcspn(field, ":"); /* settings_check has seen it */
        *value++ = '\0';
        asked.field = field;
        asked.authorization = value + strspn(value, " \t");
    }
    struct op inner = op_beside(op, op->mem);
    if (fetch(&inner, &asked, &sent.answer) != AZ_OK)
        sent.error = talloc_asprintf(op->mem, "%s: %s", name, inner.fault.detail);
    else if ((sent.outcome = meaning_of(sent.answer.status, &hint)) == SEND_TAKEN)
        sent.error = NULL;
    else
        sent.error = talloc_asprintf(op->mem, "%s: the server answered %d%s", name,
                                     sent.answer.status, hint);
    if (field != NULL)
        gnutls_memset(field, 0, talloc_get_size(field));
    if (sent.error == NULL && sent.outcome != SEND_TAKEN)
        sent.error = name;
    return sent;
}
