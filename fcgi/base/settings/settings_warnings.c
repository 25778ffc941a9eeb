/* Settings that are valid but probably not meant so. Nothing here stops the service. */
#include "config.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_trust.h"
#include "base/nearest.h"
#include "base/network.h"
#include "base/settings/settings.h"
#include "base/uri.h"

/* Most settings that a hint is taken from; the table has far fewer. */
#define SETTINGS_NAMES_MAX 256

extern char **environ;

static bool
cookies_are_exposed(TALLOC_CTX *mem, const struct settings *cfg)
{
    (void) mem;
    return settings_issuer_is_https(cfg) && !cfg->session_cookie_secure;
}

static bool
cookies_are_lost(TALLOC_CTX *mem, const struct settings *cfg)
{
    (void) mem;
    return !settings_issuer_is_https(cfg) && cfg->session_cookie_secure;
}

static bool
issuer_is_exposed(TALLOC_CTX *mem, const struct settings *cfg)
{
    return !settings_issuer_is_https(cfg) && !settings_issuer_is_local(mem, cfg);
}

static bool
engine_is_exposed(TALLOC_CTX *mem, const struct settings *cfg)
{
    struct uri uri;
    return strncmp(cfg->opa_url, "http://", 7) == 0
           && (uri_parse(mem, cfg->opa_url, &uri) != AZ_OK
               || (!uri_host_is_loopback(uri.host) && !network_is_loopback(uri.host)));
}

static bool
issuer_is_default(TALLOC_CTX *mem, const struct settings *cfg)
{
    const struct setting *row = settings_find("SVC_OIDC_ISSUER");
    (void) mem;
    return strcmp(cfg->origin[row - settings_table], "default") == 0;
}

static bool
admin_is_open(TALLOC_CTX *mem, const struct settings *cfg)
{
    (void) mem;
    return cfg->allow_insecure_dev_key;
}

static bool
timeout_is_cut(TALLOC_CTX *mem, const struct settings *cfg)
{
    (void) mem;
    return cfg->session_timeout > cfg->session_max_age;
}

static bool
data_is_incomplete(TALLOC_CTX *mem, const struct settings *cfg)
{
    static const char *const parts[] = {"sql", "policy", "www", "connectors"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const char *path = talloc_asprintf(mem, "%s/%s", cfg->data_dir, parts[i]);
        if (path == NULL || access(path, R_OK | X_OK) != 0)
            return true;
    }
    return false;
}

static bool
planner_is_missing(TALLOC_CTX *mem, const struct settings *cfg)
{
    struct stat about;
    (void) mem;
    return *cfg->opa_binary != '/' || stat(cfg->opa_binary, &about) != 0 || !S_ISREG(about.st_mode)
           || access(cfg->opa_binary, X_OK) != 0;
}

/* clang-format off */
static const struct {
    const char *setting;                                                    /* what the warning is about */
    bool (*applies)(TALLOC_CTX *mem, const struct settings *cfg);
    const char *text;                                                       /* the fault, its effect, and the remedy */
} rules[] = {
    {"SVC_SESSION_COOKIE_SECURE", cookies_are_exposed,
     "is false although SVC_OIDC_ISSUER is an https URL, so browsers also send the session over "
       "http; delete it"},
    {"SVC_SESSION_COOKIE_SECURE", cookies_are_lost,
     "is true although SVC_OIDC_ISSUER is an http URL, so browsers do not keep the session; delete "
       "it, or use https"},
    {"SVC_SESSION_TIMEOUT", timeout_is_cut,
     "is longer than SVC_SESSION_MAX_AGE, which ends a session before; set SVC_SESSION_MAX_AGE to "
       "the longest life of a session"},
    {"SVC_OIDC_ISSUER", issuer_is_exposed,
     "is an http URL of another machine, so tokens and codes can be read on the way; use https"},
    {"SVC_OPA_URL", engine_is_exposed,
     "is an http URL of another machine, so whoever is on the way can read questions and answer "
       "that a request is allowed; use a UNIX socket of this host, or https"},
    {"SVC_OIDC_ISSUER", issuer_is_default,
     "is not set, so all published URLs begin with http://localhost:8080; set it to the URL that "
       "clients use"},
    {"SVC_ALLOW_INSECURE_DEV_KEY", admin_is_open,
     "is true, so the admin API is open to everyone on this host and published keys are in use; "
       "set it on development machines only"},
    {"SVC_OPA_BINARY", planner_is_missing,
     "is not the absolute path of an executable file, so a policy that is saved is not tried "
       "before the engines get it, nor planned for the embedded one; set it to the program opa"},
    {"SVC_DATA_DIR", data_is_incomplete,
     "does not contain readable directories sql, policy, www and connectors; set it to the "
       "directory that `make install` filled"},
};
/* clang-format on */

const char *
settings_hint(TALLOC_CTX *mem, const char *name)
{
    const char *names[SETTINGS_NAMES_MAX + 1] = {NULL};
    for (size_t i = 0; settings_table[i].name != NULL && i < SETTINGS_NAMES_MAX; i++)
        names[i] = settings_table[i].name;
    const char *near = nearest_words(mem, names, name);
    const char *hint = near != NULL ? talloc_asprintf(mem, "did you mean %s?", near) : NULL;
    return hint != NULL ? hint : "see `authzctl config doc`";
}

/* Warn of SVC_ names in the environment that are not settings. A file with such a name is refused,
 * but the environment may belong to other programs too. */
static void
warn_of_names(TALLOC_CTX *mem, struct problems *warnings)
{
    for (char **line = environ; *line != NULL; line++) {
        if (strncmp(*line, "SVC_", 4) != 0)
            continue;
        const char *name = talloc_strndup(mem, *line, strcspn(*line, "="));
        if (name == NULL || settings_knows(name))
            continue;
        problems_add(mem, warnings, "%s: is not a setting and has no effect; %s", name,
                     settings_hint(mem, name));
    }
}

/* Warn of a file that SVC_ALLOW_SHARED_SETTINGS allows although other accounts can use it. */
static void
warn_of_mode(TALLOC_CTX *mem, const char *name, const char *file, bool secret,
             struct problems *warnings)
{
    struct stat about;
    const char *why = file != NULL && stat(file, &about) == 0
                          ? file_trust_fault(mem, file, &about, secret)
                          : NULL;
    if (why != NULL)
        problems_add(mem, warnings, "%s: %s; SVC_ALLOW_SHARED_SETTINGS allows it", name, why);
}

static void
warn_of_modes(TALLOC_CTX *mem, const struct settings *cfg, struct problems *warnings)
{
    warn_of_mode(mem, "SVC_CONFIG", cfg->source_file, true, warnings);
    for (size_t i = 0; settings_table[i].name != NULL; i++)
        warn_of_mode(mem, settings_table[i].name, cfg->value_file[i],
                     settings_table[i].type == SETTING_SECRET, warnings);
}

void
settings_warn(TALLOC_CTX *mem, const struct settings *cfg, struct problems *warnings)
{
    if (cfg->source_unread)
        return;
    warn_of_modes(mem, cfg, warnings);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i].applies(mem, cfg))
            problems_add(mem, warnings, "%s: %s", rules[i].setting, rules[i].text);
    warn_of_names(mem, warnings);
}
