#include "config.h"

#include "gateway/upstream/challenge.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "client/answer.h"

#define TCHARS "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* One auth-param, unchanged, as a part of the value. */
struct param {
    const char *name;
    size_t name_length;
    const char *text; /* of a quoted-string: inside the quotes */
    size_t text_length;
    bool quoted;
};

static const char *
skip_space(const char *at)
{
    return at + strspn(at, " \t");
}

/* Read token BWS "=" BWS ( token / quoted-string ). Return the place after it; NULL: there is no
 * auth-param at this place. */
static const char *
read_param(const char *at, struct param *ret)
{
    *ret = (struct param){.name = at, .name_length = strspn(at, TCHARS)};
    const char *next = skip_space(at + ret->name_length);
    if (ret->name_length == 0 || *next != '=')
        return NULL;
    next = skip_space(next + 1);
    ret->quoted = *next == '"';
    ret->text = ret->quoted ? next + 1 : next;
    if (!ret->quoted) {
        ret->text_length = strspn(next, TCHARS);
        return ret->text_length > 0 ? next + ret->text_length : NULL;
    }
    for (next++; *next != '"'; next++)
        if (*next == '\0' || (*next == '\\' && *++next == '\0'))
            return NULL;
    ret->text_length = (size_t) (next - ret->text);
    return next + 1;
}

/* Return the text of a parameter without its quotes and backslashes (RFC 9110 5.6.4). */
static const char *
param_text(TALLOC_CTX *mem, const struct param *param)
{
    char *text = talloc_strndup(mem, param->text, param->text_length), *to = text;
    for (const char *from = text; from != NULL && *from != '\0'; from++) {
        if (param->quoted && *from == '\\' && from[1] != '\0')
            from++;
        *to++ = *from;
    }
    if (to != NULL)
        *to = '\0';
    return text;
}

static bool
is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(at, word, length) == 0;
}

/* challenge = auth-scheme [ 1*SP ( token68 / #auth-param ) ]. A token that no "=" follows begins
 * the next challenge. */
const char *
upstream_challenge_param(TALLOC_CTX *mem, const char *value, const char *name)
{
    bool ours = false, found = false;
    const char *at = value;
    if (strlen(value) > UPSTREAM_CHALLENGE_MAX)
        return NULL;
    for (;;) {
        struct param param;
        at += strspn(at, " \t,");
        const char *next = read_param(at, &param);
        if (*at == '\0')
            return NULL;
        if (next == NULL) {
            if (param.name_length == 0 || found)
                return NULL;
            ours =
                is_word(at, param.name_length, "Bearer") || is_word(at, param.name_length, "DPoP");
            found = ours;
            at += param.name_length;
        } else {
            if (ours && is_word(at, param.name_length, name))
                return param_text(mem, &param);
            at = next;
        }
    }
}

json_t *
upstream_scopes_clean(TALLOC_CTX *mem, const json_t *scopes)
{
    struct jsonx_build list = {jsonx_own(mem, json_array()), false};
    size_t i;
    json_t *scope;
    json_array_foreach (scopes, i, scope) {
        const char *text = json_string_value(scope);
        bool clean = text != NULL && *text != '\0' && strlen(text) <= UPSTREAM_SCOPE_MAX;
        for (const char *c = text; clean && *c != '\0'; c++)
            clean = *c > 0x20 && *c < 0x7f && *c != '"' && *c != '\\';
        if (clean && json_array_size(list.value) < CLIENT_SCOPES_MAX
            && !words_array_has(list.value, text))
            jsonx_append(&list, json_incref(scope));
    }
    return jsonx_built(&list);
}

json_t *
upstream_challenge_scopes(TALLOC_CTX *mem, const char *value)
{
    const char *error = upstream_challenge_param(mem, value, "error");
    if (error == NULL || strcmp(error, "insufficient_scope") != 0)
        return NULL;
    json_t *scopes = client_scopes_split(mem, upstream_challenge_param(mem, value, "scope"), NULL);
    return scopes != NULL ? upstream_scopes_clean(mem, scopes) : NULL;
}
