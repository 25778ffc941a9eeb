#include "config.h"

#include "base/settings/settings.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/settings/settings_private.h"
#include "env.h"
#include "tap.h"

extern char **environ;

/* Variables that a test run inherits must not influence it. */
static void
clear_environment(void)
{
    for (char **at = environ; *at != NULL;)
        if (strncmp(*at, "SVC_", 4) == 0 || strncmp(*at, "SHUTDOWN_", 9) == 0) {
            char name[256];
            snprintf(name, sizeof(name), "%.*s", (int) strcspn(*at, "="), *at);
            unsetenv(name);
            at = environ;
        } else {
            at++;
        }
}

static size_t
rows(void)
{
    size_t count = 0;
    while (settings_table[count].name != NULL)
        count++;
    return count;
}

static void
test_table(void)
{
    for (size_t i = 0; i < rows(); i++) {
        const struct setting *row = &settings_table[i];
        unsigned twins = 0;
        for (size_t j = 0; j < rows(); j++)
            twins += strcmp(settings_table[j].name, row->name) == 0
                     || (row->alias != NULL && strcmp(settings_table[j].name, row->alias) == 0)
                     || (i != j && settings_table[j].offset == row->offset);
        is_int(twins, 1, "%s: one row, one place", row->name);
        ok(row->help != NULL && row->help[0] != '\0' && strchr(row->help, '\n') == NULL,
           "... has a line of help");
        bool number = setting_is_number(row);
        ok(number ? row->minimum < row->maximum : row->minimum == 0 && row->maximum == 0,
           "... limits belong to numbers");
        bool chosen = row->type == SETTING_CHOICE || row->type == SETTING_LIST;
        ok(chosen == (row->choices != NULL), "... choices belong to choices and lists");
        ok(row->type != SETTING_SECRET || row->fallback == NULL
               || strcmp(row->name, "SVC_DATABASE_URL") == 0,
           "... no secret has a default");
    }
}

static struct settings *
load(TALLOC_CTX *mem, struct problems *problems)
{
    *problems = (struct problems){NULL, 0};
    return settings_load(mem, NULL, problems);
}

static void
test_defaults(TALLOC_CTX *mem)
{
    struct problems problems;
    struct settings *cfg = load(mem, &problems);
    is_int((int64_t) problems.count, 0, "the defaults pass the table's own rules");
    for (size_t i = 0; i < rows(); i++) {
        bool follows = strcmp(settings_table[i].name, "SVC_SESSION_COOKIE_SECURE") == 0;
        is_str(cfg->origin[i],
               settings_table[i].fallback != NULL ? "default"
               : follows                          ? "SVC_OIDC_ISSUER"
                                                  : NULL,
               "%s: its value's origin is told", settings_table[i].name);
    }
    is_int(cfg->rate_limit_requests, 1000, "SVC_RATE_LIMIT_REQUESTS (specification 8)");
    is_int(cfg->rate_limit_window, 60, "SVC_RATE_LIMIT_WINDOW (specification 8)");
    is_int(cfg->trusted_proxy_count, 0, "SVC_TRUSTED_PROXY_COUNT (specification 8)");
    is_int(cfg->shutdown_phase_timeout, 25, "SHUTDOWN_PHASE_TIMEOUT (specification 8)");
    is_int(cfg->jwks_cache_seconds, 300, "SVC_OIDC_JWKS_CACHE_SECONDS (specification 8)");
    is_int(cfg->key_retirement_seconds, 86400, "SVC_OIDC_KEY_RETIREMENT_SECONDS (specification 8)");
    is_int(cfg->max_redirect_uris, 25, "SVC_MAX_REDIRECT_URIS (specification 8)");
    is_int(cfg->bundle_confirm_timeout_ms, 10000,
           "SVC_BUNDLE_CONFIRM_TIMEOUT_MS (specification 8)");
    is_int(cfg->policy_timeout_ms, 2000,
           "SVC_POLICY_TIMEOUT_MS (decisions.md \"Engine down, slow or answering nonsense\")");
    is_int(cfg->access_token_validity, 3600,
           "access tokens live 3600 s (decisions.md \"Lifetimes\")");
    is_int(cfg->gateway_connect_timeout, 5, "SVC_GATEWAY_CONNECT_TIMEOUT (specification 8)");
    is_int(cfg->gateway_response_timeout, 30, "SVC_GATEWAY_RESPONSE_TIMEOUT (specification 8)");
    is_int(cfg->gateway_max_body_size, 10485760,
           "SVC_GATEWAY_MAX_BODY_SIZE: 10MB are 10,485,760 octets (specification 8, decisions.md "
           "\"Gateway\")");
    ok(cfg->rate_limit_enabled && cfg->admin_enabled && cfg->bundle_confirm_activation
           && !cfg->allow_insecure_dev_key,
       "switches (specification 5.2, 8)");
}

/* Loads with one variable set; its problem line or NULL. */
static const char *
try(TALLOC_CTX *mem, const char *name, const char *value, struct settings **ret)
{
    struct problems problems;
    setenv(name, value, 1);
    struct settings *cfg = load(mem, &problems);
    unsetenv(name);
    if (ret != NULL)
        *ret = cfg;
    return problems.count > 0 ? problems.line[0] : NULL;
}

/* The engine that decides, and how often OPA is asked again. */
static void
test_engine(TALLOC_CTX *mem)
{
    struct problems problems;
    struct settings *cfg = load(mem, &problems);
    ok(settings_engine_is_embedded(cfg), "the service decides by itself (decisions.md \"The "
                                         "default engine\")");
    is_int(cfg->policy_witness_rate, 1000, "OPA is asked again about one decision in 1,000");
    ok(try(mem, "SVC_POLICY_ENGINE", "opa", &cfg) == NULL && !settings_engine_is_embedded(cfg),
       "SVC_POLICY_ENGINE=opa: OPA decides");
    ok(try(mem, "SVC_POLICY_ENGINE", "cedar", NULL) != NULL, "another word is refused");
    setenv("GATEWAY_INTERFACE", "CGI/1.1", 1);
    cfg = load(mem, &problems);
    ok(!settings_engine_is_embedded(cfg), "under plain CGI OPA decides");
    is_str(cfg->policy_engine, "opa", "... which the settings show");
    ok(try(mem, "SVC_POLICY_ENGINE", "embedded", &cfg) == NULL && settings_engine_is_embedded(cfg),
       "... unless the administrator has set the engine");
    unsetenv("GATEWAY_INTERFACE");
}

/* Every numeric row at its limits and one past each. */
static void
test_limits(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < rows(); i++) {
        const struct setting *row = &settings_table[i];
        if (!setting_is_number(row))
            continue;
        struct settings *cfg;
        char *least = talloc_asprintf(mem, "%ld", row->minimum);
        char *most = talloc_asprintf(mem, "%ld", row->maximum);
        ok(try(mem, row->name, least, &cfg) == NULL, "%s=%s: the least", row->name, least);
        is_str(settings_text(mem, cfg, row), least, "... is what it was set to");
        ok(try(mem, row->name, most, &cfg) == NULL, "%s=%s: the most", row->name, most);
        is_str(settings_text(mem, cfg, row), most, "... is what it was set to");
        const char *past = talloc_asprintf(mem, "%ld", row->maximum + 1);
        ok(try(mem, row->name, past, &cfg) != NULL, "%s=%s: one past", row->name, past);
        is_str(settings_text(mem, cfg, row),
               settings_text(mem, load(mem, &(struct problems){NULL, 0}), row),
               "... the value stays as it was");
        const char *below = talloc_asprintf(mem, "%ld", row->minimum - 1);
        ok(try(mem, row->name, below, NULL) != NULL, "%s=%s: one below", row->name, below);
    }
}

/* clang-format off */
static const struct {
    const char *name, *value;
    const char *text; /* as read, NULL: refused */
} values[] = {
    {"SVC_GATEWAY_MAX_BODY_SIZE", "1KB", "1024"},
    {"SVC_GATEWAY_MAX_BODY_SIZE", "2048B", "2048"},
    {"SVC_GATEWAY_MAX_BODY_SIZE", "1GB", "1073741824"},
    {"SVC_GATEWAY_MAX_BODY_SIZE", "2GB", NULL},
    {"SVC_GATEWAY_MAX_BODY_SIZE", "10mb", NULL},
    {"SVC_GATEWAY_MAX_BODY_SIZE", "10 MB", NULL},
    {"SVC_GATEWAY_MAX_BODY_SIZE", "10m", NULL},
    {"SVC_GATEWAY_MAX_BODY_SIZE", "MB", NULL},
    {"SVC_GATEWAY_MAX_BODY_SIZE", "9223372036854775807GB", NULL},
    {"SVC_GATEWAY_CONNECT_TIMEOUT", "5s", "5"},
    {"SVC_GATEWAY_CONNECT_TIMEOUT", "5MB", NULL},
    {"SVC_RATE_LIMIT_REQUESTS", "007", "7"},
    {"SVC_RATE_LIMIT_REQUESTS", "", NULL},
    {"SVC_RATE_LIMIT_REQUESTS", " 5", NULL},
    {"SVC_RATE_LIMIT_REQUESTS", "5 ", NULL},
    {"SVC_RATE_LIMIT_REQUESTS", "+5", NULL},
    {"SVC_RATE_LIMIT_REQUESTS", "-5", NULL},
    {"SVC_RATE_LIMIT_REQUESTS", "0x10", NULL},
    {"SVC_RATE_LIMIT_REQUESTS", "1e3", NULL},
    {"SVC_RATE_LIMIT_REQUESTS", "5s", NULL},
    {"SVC_RATE_LIMIT_REQUESTS", "9223372036854775808", NULL},
    {"SVC_RATE_LIMIT_REQUESTS", "99999999999999999999999", NULL},
    {"SVC_RATE_LIMIT_WINDOW", "90", "90"},
    {"SVC_RATE_LIMIT_WINDOW", "90s", "90"},
    {"SVC_RATE_LIMIT_WINDOW", "2m", "120"},
    {"SVC_RATE_LIMIT_WINDOW", "24h", "86400"},
    {"SVC_RATE_LIMIT_WINDOW", "1d", "86400"},
    {"SVC_RATE_LIMIT_WINDOW", "25h", NULL},
    {"SVC_RATE_LIMIT_WINDOW", "2d", NULL},
    {"SVC_RATE_LIMIT_WINDOW", "1w", NULL},
    {"SVC_RATE_LIMIT_WINDOW", "1ms", NULL},
    {"SVC_RATE_LIMIT_WINDOW", "1M", NULL},
    {"SVC_RATE_LIMIT_WINDOW", "m", NULL},
    {"SVC_RATE_LIMIT_WINDOW", "1 m", NULL},
    {"SVC_RATE_LIMIT_WINDOW", "1.5m", NULL},
    {"SVC_RATE_LIMIT_WINDOW", "106751991167301d", NULL},
    {"SVC_RATE_LIMIT_ENABLED", "true", "true"},
    {"SVC_RATE_LIMIT_ENABLED", "FALSE", "false"},
    {"SVC_RATE_LIMIT_ENABLED", "False", "false"},
    {"SVC_RATE_LIMIT_ENABLED", "yes", NULL},
    {"SVC_RATE_LIMIT_ENABLED", "0", NULL},
    {"SVC_RATE_LIMIT_ENABLED", "", NULL},
    {"SVC_RATE_LIMIT_ENABLED", "true ", NULL},
    {"SVC_LOG_LEVEL", "debug", "debug"},
    {"SVC_LOG_LEVEL", "error", "error"},
    {"SVC_LOG_LEVEL", "Debug", NULL},
    {"SVC_LOG_LEVEL", "trace", NULL},
    {"SVC_LOG_LEVEL", "", NULL},
    {"SVC_OIDC_ID_TOKEN_ALGS", "RS256", "RS256"},
    {"SVC_OIDC_ID_TOKEN_ALGS", "RS256,ES256", "RS256,ES256"},
    {"SVC_OIDC_ID_TOKEN_ALGS", " ES256 , RS256,", "ES256,RS256"},
    {"SVC_OIDC_ID_TOKEN_ALGS", "RS256,ES256,RS256", "RS256,ES256"},
    {"SVC_OIDC_ID_TOKEN_ALGS", "", NULL},
    {"SVC_OIDC_ID_TOKEN_ALGS", ",", NULL},
    {"SVC_OIDC_ID_TOKEN_ALGS", "rs256", NULL},
    {"SVC_OIDC_ID_TOKEN_ALGS", "RS256,none", NULL},
    {"SVC_OIDC_ID_TOKEN_ALGS", "RS256,HS256", NULL},
    {"SVC_OIDC_ID_TOKEN_ALGS", "RS256;ES256", NULL},
    {"SVC_OIDC_ISSUER", "https://as.example", "https://as.example"},
    {"SVC_OIDC_ISSUER", "https://as.example:8443/tenant/a", "https://as.example:8443/tenant/a"},
    {"SVC_OIDC_ISSUER", "http://localhost:8080", "http://localhost:8080"},
    {"SVC_OIDC_ISSUER", "https://as.example/", NULL},
    {"SVC_OIDC_ISSUER", "https://as.example/a/", NULL},
    {"SVC_OIDC_ISSUER", "https://as.example?x", NULL},
    {"SVC_OIDC_ISSUER", "https://as.example#x", NULL},
    {"SVC_OIDC_ISSUER", "https://me@as.example", NULL},
    {"SVC_OIDC_ISSUER", "https://as.example/a b", NULL},
    {"SVC_OIDC_ISSUER", "https://as.example/\"a", NULL},
    {"SVC_OIDC_ISSUER", "https://as.example/a\r\nX-A: b", NULL},
    {"SVC_OIDC_ISSUER", "https://\xc3\xa4.example", NULL},
    {"SVC_OIDC_ISSUER", "https://", NULL},
    {"SVC_OIDC_ISSUER", "https:///path", NULL},
    {"SVC_OIDC_ISSUER", "ftp://as.example", NULL},
    {"SVC_OIDC_ISSUER", "as.example", NULL},
    {"SVC_OIDC_ISSUER", "", NULL},
};
/* clang-format on */

static void
test_values(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct settings *cfg;
        size_t row = 0;
        while (strcmp(settings_table[row].name, values[i].name) != 0)
            row++;
        const char *problem = try(mem, values[i].name, values[i].value, &cfg);
        if (values[i].text != NULL) {
            ok(problem == NULL, "%s='%s' is taken", values[i].name, values[i].value);
            is_str(settings_text(mem, cfg, &settings_table[row]), values[i].text, "... as this");
            is_str(cfg->origin[row], "environment", "... from the environment");
        } else {
            ok(problem != NULL && strncmp(problem, values[i].name, strlen(values[i].name)) == 0,
               "%s='%s' is refused, naming the variable", values[i].name, values[i].value);
        }
    }
}

/* A blank text counts as not set where there is no default: an operator empties a line to switch
 * something off. A blank secret is refused or not set by settings_check. */
static void
test_blank(TALLOC_CTX *mem)
{
    static const char *const blank[] = {"", " ", "\t \r\n"};
    for (size_t i = 0; i < rows(); i++) {
        const struct setting *row = &settings_table[i];
        if (row->type != SETTING_TEXT || row->fallback != NULL)
            continue;
        for (size_t j = 0; j < sizeof(blank) / sizeof(blank[0]); j++) {
            struct settings *cfg;
            ok(try(mem, row->name, blank[j], &cfg) == NULL, "%s: blank (%zu) is taken", row->name,
               j);
            ok(*(const char *const *) (const void *) ((char *) cfg + row->offset) == NULL,
               "... and counts as not set");
        }
    }
}

/* Writes authz.conf and loads it; the problems as one text. */
static const char *
load_file(TALLOC_CTX *mem, const char *text, size_t length, struct settings **ret)
{
    const char *path = talloc_asprintf(mem, "%s/authz.conf", env_directory(mem));
    struct problems problems = {NULL, 0};
    FILE *file = fopen(path, "w");
    fwrite(text, 1, length, file);
    fclose(file);
    *ret = settings_load(mem, path, &problems);
    char *all = talloc_strdup(mem, "");
    for (size_t i = 0; i < problems.count; i++) {
        const char *line = problems.line[i];
        if (strncmp(line, path, strlen(path)) == 0)
            line = talloc_asprintf(mem, "FILE%s", line + strlen(path));
        all = talloc_asprintf_append(all, "%s\n", line);
    }
    return all;
}

/* clang-format off */
static const struct {
    const char *line;     /* of authz.conf */
    const char *pepper;   /* SVC_ADMIN_PEPPER afterwards; NULL: none */
    const char *problems; /* lines, with FILE for the path */
} lines[] = {
    {"SVC_ADMIN_PEPPER=plain", "plain", ""},
    {"SVC_ADMIN_PEPPER=plain\r", "plain", ""},
    {"  SVC_ADMIN_PEPPER \t=  plain  ", "plain", ""},
    {"SVC_ADMIN_PEPPER=\"in quotes \"", "in quotes ", ""},
    {"SVC_ADMIN_PEPPER='in quotes'", "in quotes", ""},
    {"SVC_ADMIN_PEPPER=\"it's\"", "it's", ""},
    {"SVC_ADMIN_PEPPER='one\"", "'one\"", ""},
    {"SVC_ADMIN_PEPPER=\"", "\"", ""},
    {"SVC_ADMIN_PEPPER=\"\"", "", ""},
    {"SVC_ADMIN_PEPPER=", "", ""},
    {"SVC_ADMIN_PEPPER=a=b", "a=b", ""},
    {"SVC_ADMIN_PEPPER=a # b", "a # b", ""},
    {"SVC_ADMIN_PEPPER=a\\nb", "a\\nb", ""},
    {"# SVC_ADMIN_PEPPER=x", NULL, ""},
    {"   ", NULL, ""},
    {"SVC_ADMIN_PEPPER=one\nSVC_ADMIN_PEPPER=two", "one",
     "FILE:2: SVC_ADMIN_PEPPER: is set in line 1, too; delete one of them\n"},
    {"SVC_ADMIN_PEPPER=one\n\nSVC_ADMIN_PEPPER=one\nSVC_ADMIN_PEPPER=one", "one",
     "FILE:3: SVC_ADMIN_PEPPER: is set in line 1, too; delete one of them\n"
     "FILE:4: SVC_ADMIN_PEPPER: is set in line 1, too; delete one of them\n"},
    {"SVC_ADMIN_PEPPER=one\n# SVC_ADMIN_PEPPER=two", "one", ""},
    {"\n\nSVC_ADMIN_PEPER=x", NULL, "FILE:3: unknown setting 'SVC_ADMIN_PEPER'; did you mean 'SVC_ADMIN_PEPPER'?\n"},
    {"svc_admin_pepper=x", NULL, "FILE:1: unknown setting 'svc_admin_pepper'; see `authzctl config doc`\n"},
    {"export SVC_ADMIN_PEPPER=x", NULL, "FILE:1: unknown setting 'export SVC_ADMIN_PEPPER'; did you mean 'SVC_ADMIN_PEPPER'?\n"},
    {"PATH=/tmp", NULL, "FILE:1: unknown setting 'PATH'; see `authzctl config doc`\n"},
    {"=x", NULL, "FILE:1: unknown setting ''; see `authzctl config doc`\n"},
    {"SVC_ADMIN_PEPPER", NULL, "FILE:1: the line is not NAME=VALUE; correct or delete it\n"},
    {"SVC_ROTATION_STATE=x\nSVC_ROTATION_=y\nSVC_CONFIG=z", NULL, ""},
    {"SVC_ROTATIO=x", NULL, "FILE:1: unknown setting 'SVC_ROTATIO'; see `authzctl config doc`\n"},
    {"SVC_LOG_LEVEL=loud", NULL, "FILE:1: SVC_LOG_LEVEL: must be one of: debug, info, warn, error\n"},
    {"SVC_LOG_LEVEL=x\nbad\nSVC_BAD=1", NULL,
     "FILE:1: SVC_LOG_LEVEL: must be one of: debug, info, warn, error\n"
     "FILE:2: the line is not NAME=VALUE; correct or delete it\n"
     "FILE:3: unknown setting 'SVC_BAD'; see `authzctl config doc`\n"},
};
/* clang-format on */

static void
test_file(TALLOC_CTX *mem)
{
    struct settings *cfg;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        const char *problems = load_file(mem, lines[i].line, strlen(lines[i].line), &cfg);
        is_str(problems, lines[i].problems, "authz.conf: the problems of [%s]", lines[i].line);
        is_str(cfg->admin_pepper, lines[i].pepper, "... and the value it leaves");
    }
    char *filled = talloc_array(mem, char, 4096);
    memset(filled, 'x', 4095);
    memcpy(filled, "SVC_ADMIN_PEPPER=", 17);
    filled[4094] = '\n';
    is_str(load_file(mem, filled, 4095, &cfg), "", "a line of 4,094 octets is read");
    is_int((int64_t) strlen(cfg->admin_pepper), 4094 - 17, "... to its end");
    static const char nul[] = "SVC_RATE_LIMIT_REQUESTS=5\0garbage\n";
    is_str(load_file(mem, nul, sizeof(nul) - 1, &cfg),
           "FILE:1: the line contains a NUL octet; delete it\n", "a NUL hides nothing behind it");
    filled[4094] = 'x';
    filled[4095] = '\n';
    is_str(load_file(mem, filled, 4096, &cfg),
           "FILE:1: the line is longer than 4094 octets; shorten it\n",
           "a line of 4,095 octets is refused");
    ok(cfg->admin_pepper == NULL, "... whole");
}

static void
test_sources(TALLOC_CTX *mem)
{
    static const char text[] = "SVC_LOG_LEVEL=warn\nSVC_RATE_LIMIT_WINDOW=30\n"
                               "SVC_GATEWAY_CREDENTIAL_KEY=the older name in a file\n";
    struct settings *cfg;
    struct problems problems = {NULL, 0};
    setenv("SVC_LOG_LEVEL", "error", 1);
    is_str(load_file(mem, text, strlen(text), &cfg), "", "file and environment together");
    unsetenv("SVC_LOG_LEVEL");
    is_str(cfg->log_level, "error", "the environment wins over the file (architecture.md 6)");
    is_int(cfg->rate_limit_window, 30, "... only for the settings that it names");
    is_str(cfg->credential_key, "the older name in a file", "the older name counts in a file");
    setenv("SVC_GATEWAY_CREDENTIAL_KEY", "older", 1);
    is_str(load(mem, &problems)->credential_key, "older",
           "the older name of SVC_CREDENTIAL_KEY counts (specification 5.2)");
    setenv("SVC_CREDENTIAL_KEY", "newer", 1);
    is_str(load(mem, &problems)->credential_key, "newer", "... unless the newer one is set");
    unsetenv("SVC_CREDENTIAL_KEY");
    unsetenv("SVC_GATEWAY_CREDENTIAL_KEY");
    setenv("SVC_ROTATION_X", "y", 1);
    load(mem, &problems);
    unsetenv("SVC_ROTATION_X");
    is_int((int64_t) problems.count, 0, "SVC_ROTATION_ names are left alone (specification 8)");
    settings_load(mem, "/nonexistent/authz.conf", &problems);
    is_int((int64_t) problems.count, 0, "a default file that is not there is no problem");
    setenv("SVC_CONFIG", "/nonexistent/authz.conf", 1);
    settings_load(mem, NULL, &problems);
    unsetenv("SVC_CONFIG");
    is_int((int64_t) problems.count, 1, "a file that SVC_CONFIG names must be there");
    ok(problems.count == 1 && strstr(problems.line[0], "/nonexistent/authz.conf") != NULL,
       "... and the problem names it");
}

/* Write a file of a value; return its path. */
static const char *
value_file(TALLOC_CTX *mem, const char *text, size_t length)
{
    const char *path = talloc_asprintf(mem, "%s/value", env_directory(mem));
    FILE *file = fopen(path, "w");
    fwrite(text, 1, length, file);
    fclose(file);
    return path;
}

/* clang-format off */
static const struct {
    const char *text;    /* of the file */
    size_t length;
    const char *pepper;  /* SVC_ADMIN_PEPPER afterwards; NULL: none */
    const char *problem; /* how the problem ends; NULL: there is none */
} files[] = {
    {"plain", 5, "plain", NULL},
    {"plain\n", 6, "plain", NULL},
    {"plain\r\n", 7, "plain", NULL},
    {" in blanks ", 11, " in blanks ", NULL},
    {"\"quoted\"", 8, "\"quoted\"", NULL},
    {"", 0, "", NULL},
    {"\n", 1, "", NULL},
    {"one\ntwo\n", 8, NULL, "has more than one line; delete all but the value"},
    {"plain\n\n", 7, NULL, "has more than one line; delete all but the value"},
    {"one\0two", 7, NULL, "contains a NUL octet; delete it"},
};
/* clang-format on */

/* True if there is one problem, which begins and ends so. */
static bool
one_problem(const struct problems *problems, const char *begin, const char *end)
{
    const char *line = problems->count == 1 ? problems->line[0] : "";
    size_t length = strlen(line), rest = strlen(end);
    bool good = strncmp(line, begin, strlen(begin)) == 0 && length >= rest
                && strcmp(line + length - rest, end) == 0;
    if (!good)
        printf("#   %zu problems, the first: %s\n", problems->count, line);
    return good;
}

static void
test_value_files(TALLOC_CTX *mem)
{
    struct problems problems;
    for (size_t i = 0; i < rows(); i++)
        ok(settings_find_file(settings_table[i].name) == NULL,
           "%s: is not the NAME_FILE of another setting", settings_table[i].name);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        const char *path = value_file(mem, files[i].text, files[i].length);
        setenv("SVC_ADMIN_PEPPER_FILE", path, 1);
        struct settings *cfg = load(mem, &problems);
        is_str(cfg->admin_pepper, files[i].pepper,
               "NAME_FILE: the value of file %zu (architecture.md 6)", i);
        if (files[i].problem == NULL)
            is_int((int64_t) problems.count, 0, "... no problem");
        else
            ok(one_problem(&problems, "SVC_ADMIN_PEPPER: the file ", files[i].problem),
               "... its problem");
    }
    char filled[4097];
    memset(filled, 'x', sizeof(filled));
    filled[4094] = '\n';
    setenv("SVC_ADMIN_PEPPER_FILE", value_file(mem, filled, 4095), 1);
    is_int((int64_t) strlen(load(mem, &problems)->admin_pepper), 4094, "4,094 octets are read");
    filled[4094] = 'x';
    setenv("SVC_ADMIN_PEPPER_FILE", value_file(mem, filled, 4095), 1);
    ok(load(mem, &problems)->admin_pepper == NULL
           && one_problem(&problems, "SVC_ADMIN_PEPPER: ", "longer than 4094 octets; shorten it"),
       "... 4,095 are refused");
    setenv("SVC_ADMIN_PEPPER_FILE", value_file(mem, filled, sizeof(filled)), 1);
    ok(load(mem, &problems)->admin_pepper == NULL && problems.count == 1, "... and more");
    setenv("SVC_ADMIN_PEPPER_FILE", "/dev/null", 1);
    load(mem, &problems);
    ok(one_problem(&problems, "SVC_ADMIN_PEPPER: cannot read /dev/null: it is not a regular file; ",
                   ""),
       "a device is refused");
    setenv("SVC_ADMIN_PEPPER_FILE", "/nonexistent", 1);
    load(mem, &problems);
    ok(one_problem(&problems, "SVC_ADMIN_PEPPER: cannot read /nonexistent: ",
                   "set SVC_ADMIN_PEPPER_FILE to a file that the service can read"),
       "a file that is not there is named");
    setenv("SVC_ADMIN_PEPPER_FILE", value_file(mem, "plain", 5), 1);
    setenv("SVC_ADMIN_PEPPER", "other", 1);
    load(mem, &problems);
    ok(one_problem(&problems, "SVC_ADMIN_PEPPER: is set, and SVC_ADMIN_PEPPER_FILE, too;", ""),
       "NAME and NAME_FILE at once are refused");
    unsetenv("SVC_ADMIN_PEPPER");
    unsetenv("SVC_ADMIN_PEPPER_FILE");
}

/* The same in authz.conf, of a number, and of an older name. */
static void
test_value_files_named(TALLOC_CTX *mem)
{
    struct settings *cfg;
    struct problems problems;
    const char *path = value_file(mem, "0", 1);
    const char *line = talloc_asprintf(mem, "SVC_RATE_LIMIT_WINDOW_FILE=%s", path);
    setenv("SVC_RATE_LIMIT_WINDOW_FILE", path, 1);
    load(mem, &problems);
    ok(one_problem(&problems, talloc_asprintf(mem, "%s: SVC_RATE_LIMIT_WINDOW: must be ", path),
                   ""),
       "a wrong value names the file");
    unsetenv("SVC_RATE_LIMIT_WINDOW_FILE");
    is_int(strncmp(load_file(mem, line, strlen(line), &cfg),
                   "FILE:1: SVC_RATE_LIMIT_WINDOW: must be ", 39),
           0, "... one of authz.conf its line");
    line = talloc_asprintf(mem, "SVC_ADMIN_PEPPER_FILE=%s\nSVC_ADMIN_PEPPER=two", path);
    is_str(load_file(mem, line, strlen(line), &cfg),
           "FILE:2: SVC_ADMIN_PEPPER: is set in line 1, too; delete one of them\n",
           "both in authz.conf are refused");
    is_str(cfg->admin_pepper, "0", "... the first stays");
    setenv("SVC_ADMIN_PEPPER", "environment", 1);
    line = talloc_asprintf(mem, "SVC_ADMIN_PEPPER_FILE=%s", path);
    is_str(load_file(mem, line, strlen(line), &cfg), "", "a file in authz.conf");
    is_str(cfg->admin_pepper, "environment", "... the environment wins");
    unsetenv("SVC_ADMIN_PEPPER");
    setenv("SVC_GATEWAY_CREDENTIAL_KEY_FILE", path, 1);
    cfg = load(mem, &problems);
    is_str(cfg->credential_key, "0", "the older name of SVC_CREDENTIAL_KEY has one, too");
    is_str(cfg->origin[settings_find("SVC_CREDENTIAL_KEY") - settings_table], path,
           "... the origin of the value is the file");
    unsetenv("SVC_GATEWAY_CREDENTIAL_KEY_FILE");
    setenv("SVC_NO_SETTING_FILE", path, 1);
    problems.count = 0;
    settings_warn(mem, cfg, &problems);
    bool warned = false;
    for (size_t i = 0; i < problems.count; i++)
        warned =
            warned || strncmp(problems.line[i], "SVC_NO_SETTING_FILE: is not a setting", 37) == 0;
    ok(warned, "NAME_FILE of what is no setting is warned of");
    unsetenv("SVC_NO_SETTING_FILE");
}

/* A file that others can use is refused, unless the environment allows it, and then warned of; one
 * of a relative path is not read. */
static void
test_value_files_kept(TALLOC_CTX *mem)
{
    static const struct {
        const char *name; /* of the setting */
        mode_t mode;      /* of the file */
        bool refused;
    } cases[] = {
        {"SVC_ADMIN_PEPPER", 0400, false},
        {"SVC_ADMIN_PEPPER", 0440, false},
        {"SVC_ADMIN_PEPPER", 0444, true },
        {"SVC_ADMIN_PEPPER", 0620, true },
        {"SVC_ADMIN_PEPPER", 0601, true },
        {"SVC_LOG_LEVEL",    0644, false},
        {"SVC_LOG_LEVEL",    0664, true },
        {"SVC_LOG_LEVEL",    0646, true },
    };
    struct problems problems, warnings = {NULL, 0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *path = value_file(mem, "warn", 4);
        const char *name = talloc_asprintf(mem, "%s_FILE", cases[i].name);
        setenv(name, path, 1);
        chmod(path, cases[i].mode);
        load(mem, &problems);
        const char *begin = talloc_asprintf(mem, "%s: %s has mode %04o, so ", cases[i].name, path,
                                            (unsigned) cases[i].mode);
        ok(cases[i].refused ? one_problem(&problems, begin, " allows it") : problems.count == 0,
           "%s with mode %04o: %s", name, (unsigned) cases[i].mode,
           cases[i].refused ? "refused" : "taken");
        setenv("SVC_ALLOW_SHARED_SETTINGS", "true", 1);
        struct settings *cfg = load(mem, &problems);
        is_int((int64_t) problems.count, 0, "... SVC_ALLOW_SHARED_SETTINGS allows it");
        warnings = (struct problems){NULL, 0};
        settings_warn(mem, cfg, &warnings);
        bool warned = false;
        for (size_t at = 0; at < warnings.count; at++)
            warned = warned || strncmp(warnings.line[at], begin, strlen(begin)) == 0;
        ok(warned == cases[i].refused, "... and a warning stays");
        unsetenv("SVC_ALLOW_SHARED_SETTINGS");
        unsetenv(name);
        unlink(path);
    }
    setenv("SVC_ADMIN_PEPPER_FILE", "value", 1);
    load(mem, &problems);
    ok(one_problem(&problems, "SVC_ADMIN_PEPPER: the file value, ", "must have an absolute path"),
       "NAME_FILE with a relative path is refused");
    unsetenv("SVC_ADMIN_PEPPER_FILE");
}

/* Nothing is taken from an authz.conf that others can use, and none of its lines can allow it. */
static void
test_file_kept(TALLOC_CTX *mem)
{
    static const mode_t wrong[] = {0644, 0666, 0660, 0604, 0602};
    static const char line[] = "SVC_ADMIN_PEPPER=x", allow[] = "SVC_ALLOW_SHARED_SETTINGS=true";
    struct settings *cfg;
    is_int(strncmp(load_file(mem, allow, strlen(allow), &cfg),
                   "FILE:1: SVC_ALLOW_SHARED_SETTINGS: is read from the environment alone, ", 70),
           0, "authz.conf cannot allow itself");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        load_file(mem, line, strlen(line), &cfg);
        const char *path = talloc_strdup(mem, cfg->source_file);
        struct problems problems = {NULL, 0};
        chmod(path, wrong[i]);
        cfg = settings_load(mem, path, &problems);
        ok(one_problem(&problems, talloc_asprintf(mem, "SVC_CONFIG: %s has mode ", path),
                       " allows it"),
           "authz.conf with mode %04o is refused", (unsigned) wrong[i]);
        ok(cfg->admin_pepper == NULL && cfg->source_unread, "... and not read");
        problems = (struct problems){NULL, 0};
        setenv("SVC_ALLOW_SHARED_SETTINGS", "true", 1);
        cfg = settings_load(mem, path, &problems);
        ok(problems.count == 0 && cfg->admin_pepper != NULL,
           "... unless the environment allows it");
        setenv("SVC_ALLOW_SHARED_SETTINGS", "no", 1);
        cfg = settings_load(mem, path, &problems);
        ok(problems.count == 2 && cfg->admin_pepper == NULL, "... by the word true alone");
        unsetenv("SVC_ALLOW_SHARED_SETTINGS");
    }
}

/* Settings that pass, for one thing at a time to be wrong. */
static struct settings *
sound(TALLOC_CTX *mem)
{
    return env_settings(env_az(mem));
}

/* The number of problems; each must begin with the variable. */
static void __attribute__((format(printf, 5, 6)))
checked(TALLOC_CTX *mem, struct settings *cfg, size_t count, const char *variable, const char *name,
        ...)
{
    struct problems problems = {NULL, 0};
    char text[256];
    va_list args;
    va_start(args, name);
    vsnprintf(text, sizeof(text), name, args);
    va_end(args);
    settings_check(mem, cfg, &problems);
    bool named = true;
    for (size_t i = 0; i < problems.count; i++)
        named = named && strncmp(problems.line[i], variable, strlen(variable)) == 0;
    ok(problems.count == count && named, "%s", text);
    for (size_t i = 0; i < problems.count && (problems.count != count || !named); i++)
        printf("#   %s\n", problems.line[i]);
}

struct secret {
    const char *name;
    size_t offset;
    bool known_refused;
};

static void
test_lengths(TALLOC_CTX *mem, const struct secret *secrets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct problems problems = {NULL, 0};
        struct settings *cfg = sound(mem);
        const char **at = (const char **) (void *) ((char *) cfg + secrets[i].offset);
        *at = "123456789012345";
        settings_check(mem, cfg, &problems);
        ok(problems.count == 1 && strstr(problems.line[0], secrets[i].name) == problems.line[0]
               && strstr(problems.line[0], "15 octets") != NULL
               && strstr(problems.line[0], "fewer than 16") != NULL
               && strstr(problems.line[0], "openssl rand") != NULL
               && strstr(problems.line[0], "1234") == NULL,
           "%s of 15 octets is refused with the length and the remedy, not the value "
           "(decisions.md \"Key lengths\")",
           secrets[i].name);
        *at = "1234567890123456";
        checked(mem, cfg, 0, "", "... of 16 octets it is not");
        *at = "123456789012345";
        cfg->allow_insecure_dev_key = true;
        bool derives = strcmp(secrets[i].name, "SVC_CREDENTIAL_KEY") == 0;
        checked(mem, cfg, derives, secrets[i].name,
                "... in development mode only a credential key of 15 octets is refused");
    }
}

static void
test_secrets(TALLOC_CTX *mem)
{
    static const char *const known[] = {"dev",
                                        "development",
                                        "changeme",
                                        "change-me",
                                        "secret",
                                        "test",
                                        "default",
                                        "password",
                                        "admin",
                                        "insecure",
                                        "dev-pepper",
                                        "dev-key",
                                        "DEV",
                                        "ChangeMe",
                                        "Dev-Pepper",
                                        "PassWord",
                                        "dev-bundle-key",
                                        "insecure-dev-x",
                                        "INSECURE-DEV-PEPPER"};
    const struct secret secrets[] = {
        {"SVC_ADMIN_API_KEY",  offsetof(struct settings, admin_api_key),  false},
        {"SVC_ADMIN_PEPPER",   offsetof(struct settings, admin_pepper),   true },
        {"SVC_CREDENTIAL_KEY", offsetof(struct settings, credential_key), false},
        {"SVC_BUNDLE_API_KEY", offsetof(struct settings, bundle_api_key), true },
    };
    static const char *const blank[] = {NULL, "", " ", "\t \r\n"};
    checked(mem, sound(mem), 0, "", "four secrets: nothing to refuse (specification 5.2)");
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 4; j++) {
            struct settings *cfg = sound(mem);
            *(const char **) (void *) ((char *) cfg + secrets[i].offset) = blank[j];
            checked(mem, cfg, 1, secrets[i].name, "%s: blank (%zu) is refused (specification 5.2)",
                    secrets[i].name, j);
            cfg->allow_insecure_dev_key = true;
            checked(mem, cfg, 0, "", "... unless SVC_ALLOW_INSECURE_DEV_KEY is true");
            const char *now = *(const char **) (void *) ((char *) cfg + secrets[i].offset);
            ok(now != NULL && strncmp(now, "insecure-dev-", 13) == 0,
               "... then a public one is used");
            cfg->allow_insecure_dev_key = false;
            checked(mem, cfg, 1, secrets[i].name, "... which is refused without the switch");
        }
        for (size_t j = 0; secrets[i].known_refused && j < sizeof(known) / sizeof(known[0]); j++) {
            struct settings *cfg = sound(mem);
            *(const char **) (void *) ((char *) cfg + secrets[i].offset) = known[j];
            checked(mem, cfg, 1, secrets[i].name,
                    "%s=%s is refused (decisions.md \"Development values\")", secrets[i].name,
                    known[j]);
        }
    }
    test_lengths(mem, secrets, 4);
    struct settings *cfg = sound(mem);
    cfg->admin_api_key = "x-of-sixteen-oct";
    cfg->admin_pepper = "devs-developments";
    cfg->bundle_api_key = "secret1-and-more";
    checked(mem, cfg, 0, "", "values near the known ones are not refused");
    cfg->admin_api_key = cfg->admin_pepper = cfg->credential_key = cfg->bundle_api_key = NULL;
    checked(mem, cfg, 4, "SVC_", "each problem has its line");
}

static void
test_between(TALLOC_CTX *mem)
{
    struct settings *cfg = sound(mem);
    cfg->audit_retention_days = 89;
    checked(mem, cfg, 1, "SVC_AUDIT_RETENTION_DAYS",
            "audit rows that go before a refresh family ends are refused (decisions.md \"Settings "
            "read once\")");
    cfg->audit_retention_days = 90;
    checked(mem, cfg, 0, "", "... not when they stay as long");
    cfg->refresh_family_validity = 90 * 86400 + 1;
    checked(mem, cfg, 1, "SVC_AUDIT_RETENTION_DAYS", "... a second less is refused");
    cfg->audit_retention_days = 0;
    checked(mem, cfg, 0, "", "... 0 keeps them for ever");
    static const char *const lists[] = {"", "192.0.2.1", "192.0.2.1, 2001:db8::1,127.0.0.1"};
    static const char *const faulty[] = {"localhost", "192.0.2.0/24", "192.0.2.1,x", "[::1]"};
    for (size_t i = 0; i < 3; i++) {
        cfg->metrics_allow = lists[i];
        checked(mem, cfg, 0, "", "SVC_METRICS_ALLOW='%s' is taken", lists[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        cfg->metrics_allow = faulty[i];
        checked(mem, cfg, 1, "SVC_METRICS_ALLOW: ", "SVC_METRICS_ALLOW='%s' is refused", faulty[i]);
    }
    cfg->metrics_allow = "";
    static const char *const origins[] = {"", "null", "https://a.example, http://127.0.0.1:6274",
                                          "vscode-webview://abc", "http://[::1]:443"};
    static const char *const no_origins[] = {"*",
                                             "https://*.example",
                                             "a.example",
                                             "https://a.example/",
                                             "https://A.example",
                                             "https://a.example:443",
                                             "http://a.example:80",
                                             "https://u@a.example",
                                             "https://",
                                             "://a"};
    for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
        cfg->gateway_allowed_origins = origins[i];
        checked(mem, cfg, 0, "", "SVC_GATEWAY_ALLOWED_ORIGINS='%s' is taken", origins[i]);
    }
    for (size_t i = 0; i < sizeof(no_origins) / sizeof(no_origins[0]); i++) {
        cfg->gateway_allowed_origins = no_origins[i];
        checked(mem, cfg, 1, "SVC_GATEWAY_ALLOWED_ORIGINS: ",
                "SVC_GATEWAY_ALLOWED_ORIGINS='%s' would match no page, and is refused",
                no_origins[i]);
    }
    cfg->gateway_allowed_origins = NULL;
    cfg->metrics_token = "123456789012345";
    checked(mem, cfg, 1, "SVC_METRICS_TOKEN: has 15 octets", "a metrics token of 15 octets");
    cfg->metrics_token = NULL;
    checked(mem, cfg, 0, "", "... none is needed");
    cfg->gateway_link_state_secret = "123456789012345";
    checked(mem, cfg, 1, "SVC_GATEWAY_LINK_STATE_SECRET: has 15 octets",
            "a link state secret of 15 octets");
    cfg->gateway_link_state_secret = "changeme";
    checked(mem, cfg, 1, "SVC_GATEWAY_LINK_STATE_SECRET: ", "a well-known one");
    cfg->gateway_link_state_secret = "1234567890123456";
    checked(mem, cfg, 0, "", "one of 16");
    cfg->gateway_link_state_secret = NULL;
    checked(mem, cfg, 0, "", "... none is needed");
    static const char *const bad[] = {"",
                                      "unix:",
                                      "unix:opa.sock",
                                      "opa.sock",
                                      "ftp://h",
                                      "http:/h",
                                      "http://user:secret@h:8181",
                                      "http://h/path",
                                      "http://h/",
                                      "http://h/path",
                                      "http://h/"};
    static const char *const good[] = {"unix:/run/opa.sock", "http://h:8181", "https://h"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cfg->opa_url = bad[i];
        checked(mem, cfg, 1, "SVC_OPA_URL", "SVC_OPA_URL='%s' is refused", bad[i]);
    }
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        cfg->opa_url = good[i];
        checked(mem, cfg, 0, "", "SVC_OPA_URL='%s' is taken", good[i]);
    }
}

static void
test_masked(TALLOC_CTX *mem)
{
    struct settings *cfg = sound(mem);
    for (size_t i = 0; i < rows(); i++) {
        const struct setting *row = &settings_table[i];
        if (row->type != SETTING_SECRET)
            continue;
        *(const char **) (void *) ((char *) cfg + row->offset) = "a secret";
        is_str(settings_text(mem, cfg, row), "********", "%s is never printed", row->name);
        *(const char **) (void *) ((char *) cfg + row->offset) = NULL;
        is_str(settings_text(mem, cfg, row), "", "... and without a value there is nothing");
    }
}

int
main(void)
{
    umask(077); /* the service takes no settings that others can read */
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    clear_environment();
    test_table();
    test_defaults(mem);
    test_engine(mem);
    test_limits(mem);
    test_values(mem);
    test_blank(mem);
    test_file(mem);
    test_sources(mem);
    test_value_files(mem);
    test_value_files_named(mem);
    test_value_files_kept(mem);
    test_file_kept(mem);
    test_secrets(mem);
    test_between(mem);
    test_masked(mem);
    talloc_free(mem);
    return done();
}
