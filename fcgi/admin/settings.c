#include "config.h"

#include "admin/settings.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"

/* clang-format off */
static const struct field setting_fields[] = {
    {"name",   FIELD_TEXT,    .required = true, .help = "The variable",
     .example = "\"SVC_OIDC_ISSUER\""},
    {"value",  FIELD_TEXT,    .may_be_empty = true,
     .help = "Its value; absent for a secret, and for a setting that has none"},
    {"set",    FIELD_BOOLEAN, .required = true,
     .help = "It has a value; nothing else of a secret is shown", .example = "true"},
    {"secret", FIELD_BOOLEAN, .required = true, .help = "Its value is not shown",
     .example = "false"},
    {"origin", FIELD_TEXT,    .required = true,
     .help = "default, environment, FILE:LINE, development, or unset", .example = "\"default\""},
    {"help",   FIELD_TEXT,    .required = true, .help = "Its meaning", .example = "\"Issuer URL\""},
};
static const struct field_table setting_view = FIELD_TABLE("SettingDto", setting_fields,
                                                           FIELDS_ANSWER);
static const struct field settings_fields[] = {
    {"version",  FIELD_TEXT,  .required = true, .help = "Version of the program",
     .example = "\"1.0\""},
    {"settings", FIELD_ARRAY, .required = true, .shape = &setting_view,
     .help = "The settings as this process read them when it started; another value needs a "
             "restart"},
};
/* clang-format on */
const struct field_table answer_settings =
    FIELD_TABLE("SettingsDto", settings_fields, FIELDS_ANSWER);

/* True if a text has an address with a name or password before its host, or with a query, which may
 * be a credential: posts to a webhook have no other place for one. */
static bool
has_credentials(const char *text)
{
    for (const char *at = text; at != NULL && (at = strstr(at, "://")) != NULL;) {
        at += strlen("://");
        if (strcspn(at, "@?") < strcspn(at, " ,"))
            return true;
    }
    return false;
}

/* Return one setting, a new reference; NULL: no memory. */
static json_t *
setting_shown(TALLOC_CTX *mem, const struct settings *cfg, const struct setting *row)
{
    const char *text = settings_text(mem, cfg, row), *origin = cfg->origin[row - settings_table];
    bool secret = row->type == SETTING_SECRET || has_credentials(text),
         set = text != NULL && *text != '\0';
    return json_pack("{s:s,s:s*,s:b,s:b,s:s,s:s}", "name", row->name, "value",
                     secret || !set ? NULL : text, "set", set, "secret", secret, "origin",
                     origin != NULL ? origin
                     : set          ? "development"
                                    : "unset",
                     "help", row->help);
}

enum az_status
settings_list_handle(struct request *req)
{
    struct jsonx_build list = {jsonx_own(req->op.mem, json_array()), false};
    for (const struct setting *row = settings_table; row->name != NULL; row++)
        jsonx_append(&list, setting_shown(req->op.mem, req->op.az->cfg, row));
    json_t *all = jsonx_built(&list);
    return respond_json(req, 200,
                        all != NULL
                            ? jsonx_own(req->op.mem, json_pack("{s:s,s:O}", "version",
                                                               PACKAGE_VERSION, "settings", all))
                            : NULL);
}
