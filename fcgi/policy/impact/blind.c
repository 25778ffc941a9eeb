#include "config.h"

#include "policy/impact/blind.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "policy/decide/default_scopes.h"
#include "policy/decide/trust.h"

enum blind_kind { BLIND_INTROSPECT, BLIND_TRUST, BLIND_DEFAULT_SCOPES, BLIND_KINDS };

/* The kinds, and the evaluations whose questions depend on each. The token of a request to a
 * managed resource is introspected before the request is decided, and the row has the second
 * question alone; trusted issuers send assertions, statements and ID tokens; a request without
 * scope asks for the default scopes. */
static const struct {
    const char *what;
    const char *const evaluations[4];
} kinds[BLIND_KINDS] = {
    [BLIND_INTROSPECT] = {"introspect",       {"gateway", "gateway_tools", NULL}       },
    [BLIND_TRUST] = {TRUST_ROW,          {"issue", "introspect", "register", NULL}},
    [BLIND_DEFAULT_SCOPES] = {DEFAULT_SCOPES_ROW, {"issue", "preview", NULL}               },
};

struct blind {
    bool is[BLIND_KINDS];
    int64_t rows[BLIND_KINDS];
};

/* True unless two rows are equal. */
static bool
differs(const json_t *one, const json_t *other)
{
    return one == NULL || other == NULL ? one != other : !json_equal(one, other);
}

struct blind *
blind_new(TALLOC_CTX *mem, const struct side *base, const struct side *candidate, bool introspects)
{
    struct blind *blind = talloc_zero(mem, struct blind);
    if (blind == NULL)
        return NULL;
    const json_t *const *before = base->rows.row, *const *after = candidate->rows.row;
    const char *scopes = default_scopes_of(blind, before[SIDE_DEFAULT_SCOPES]),
               *others = default_scopes_of(blind, after[SIDE_DEFAULT_SCOPES]);
    blind->is[BLIND_INTROSPECT] = introspects;
    blind->is[BLIND_TRUST] = differs(before[SIDE_TRUST], after[SIDE_TRUST]);
    if (scopes == NULL || others == NULL)
        TALLOC_FREE(blind);
    else
        blind->is[BLIND_DEFAULT_SCOPES] = strcmp(scopes, others) != 0;
    return blind;
}

void
blind_count(struct blind *blind, const json_t *input)
{
    const char *evaluation = json_string_value(json_object_get(input, "evaluation"));
    for (int i = 0; i < BLIND_KINDS; i++)
        blind->rows[i] += blind->is[i] && words_has(kinds[i].evaluations, evaluation);
}

json_t *
blind_json(TALLOC_CTX *mem, const struct blind *blind)
{
    struct jsonx_build list = {jsonx_own(mem, json_array()), false};
    for (int i = 0; i < BLIND_KINDS; i++)
        if (blind->rows[i] > 0)
            jsonx_append(&list, json_pack("{s:s,s:I}", "what", kinds[i].what, "rows",
                                          (json_int_t) blind->rows[i]));
    return jsonx_built(&list);
}
