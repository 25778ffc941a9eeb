/* Checks of settings beside the limits of each: secrets, and values that do not fit each other. */
#include "config.h"

#include "base/settings/settings.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cron.h"
#include "base/network.h"
#include "base/uri.h"
#include "base/words.h"

/* Shortest secret, in octets: 16 random octets are 128 bits. A shorter text is likely to be a
 * password, which an attacker can guess, or search for in a copy of the database. */
#define SECRET_MINIMUM 16

/* True for a fallback of the table below, or a value like them. */
static bool
is_fallback(const char *text)
{
    return strncasecmp(text, "insecure-dev-", strlen("insecure-dev-")) == 0;
}

/* True for a value known from examples, which is not a secret. */
static bool
is_development_value(const char *text)
{
    static const char *const known[] = {
        "dev",      "development", "changeme", "change-me",  "secret",  "test",          "default",
        "password", "admin",       "insecure", "dev-pepper", "dev-key", "dev-bundle-key"};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcasecmp(text, known[i]) == 0)
            return true;
    return is_fallback(text);
}

/* One secret: those that specification 5.2 requires, and others that must not be weak. */
struct demand {
    const char *name;     /* name of the setting */
    size_t offset;        /* offset in struct settings */
    bool known_refused;   /* refuse published development values */
    size_t minimum;       /* shortest value, in octets */
    size_t minimum_dev;   /* the same in development mode; without it no key can be derived */
    const char *fallback; /* public value in development mode; NULL: may be blank in any mode */
    bool seals;           /* what is stored cannot be read or checked with another value */
};

/* clang-format off */
static const struct demand demands[] = {
    {"SVC_ADMIN_API_KEY",  offsetof(struct settings, admin_api_key),  false, SECRET_MINIMUM, 0,
     "insecure-dev-admin-key",      false},
    {"SVC_ADMIN_PEPPER",   offsetof(struct settings, admin_pepper),   true,  SECRET_MINIMUM, 0,
     "insecure-dev-pepper",         true},
    {"SVC_CREDENTIAL_KEY", offsetof(struct settings, credential_key), false, SECRET_MINIMUM,
     SECRET_MINIMUM, "insecure-dev-credential-key", true},
    {"SVC_CREDENTIAL_KEY_PREVIOUS", offsetof(struct settings, credential_old), false,
     SECRET_MINIMUM, SECRET_MINIMUM, NULL, false},
    {"SVC_BUNDLE_API_KEY", offsetof(struct settings, bundle_api_key), true,  SECRET_MINIMUM, 0,
     "insecure-dev-bundle-key",     false},
    {"SVC_METRICS_TOKEN",  offsetof(struct settings, metrics_token),  true,  SECRET_MINIMUM, 0,
     NULL, false},
    {"SVC_GATEWAY_LINK_STATE_SECRET", offsetof(struct settings, gateway_link_state_secret), true,
     SECRET_MINIMUM, SECRET_MINIMUM, NULL, false},
    {"SVC_GATEWAY_LINK_STATE_SECRET_PREVIOUS",
     offsetof(struct settings, gateway_link_state_previous), true, SECRET_MINIMUM, SECRET_MINIMUM,
     NULL, false},
};
/* clang-format on */

static void
check_length(TALLOC_CTX *mem, const char *name, const char *value, size_t minimum,
             struct problems *problems)
{
    if (strlen(value) < minimum)
        problems_add(mem, problems,
                     "%s: has %zu octets, fewer than %zu; set it to a random value, for example "
                     "from `openssl rand -hex 32`",
                     name, strlen(value), minimum);
}

static void
check_demand(TALLOC_CTX *mem, struct settings *cfg, const struct demand *demand,
             struct problems *problems)
{
    const char **at = (const char **) (void *) ((char *) cfg + demand->offset);
    bool blank = settings_is_blank(*at);
    if (blank && demand->fallback == NULL)
        return;
    if (cfg->allow_insecure_dev_key) {
        if (blank)
            *at = demand->fallback;
        check_length(mem, demand->name, *at, demand->minimum_dev, problems);
    } else if (blank) {
        problems_add(mem, problems, "%s: is not set; %s", demand->name,
                     demand->seals ? "if the database has been used before, restore the value from "
                                     "your copy of authz.conf, because its secrets cannot be read "
                                     "with another one; for a new database set it to a random "
                                     "value, for example from `openssl rand -hex 32`"
                                   : "set it to a random value, for example from `openssl rand "
                                     "-hex 32`");
    } else if ((demand->known_refused && is_development_value(*at)) || is_fallback(*at)) {
        problems_add(mem, problems,
                     "%s: is a published development value; set a random value, or, on a "
                     "machine that only you can reach, set SVC_ALLOW_INSECURE_DEV_KEY=true",
                     demand->name);
    } else {
        check_length(mem, demand->name, *at, demand->minimum, problems);
    }
}

/* Check a list of addresses that are separated by commas. An entry that is not an address would
 * match no caller, and its author would not notice. */
static void
check_addresses(TALLOC_CTX *mem, const char *name, const char *list, struct problems *problems)
{
    unsigned char octets[16];
    char *copy = talloc_strdup(mem, list), *rest = copy, *entry;
    while (copy != NULL && (entry = strtok_r(rest, ", \t", &rest)) != NULL)
        if (inet_pton(AF_INET, entry, octets) != 1 && inet_pton(AF_INET6, entry, octets) != 1)
            problems_add(mem, problems,
                         "%s: %s is not an IPv4 or IPv6 address; separate addresses with commas",
                         name, entry);
    talloc_free(copy);
}

/* True for an origin as browsers write it (RFC 6454 6.2): in lower case, without a path and without
 * the port that the scheme has anyway. `null` is one, too. */
static bool
is_origin(const char *text)
{
    const char *host = strstr(text, "://");
    const char *port = strrchr(text, ':');
    if (strcmp(text, "null") == 0)
        return true;
    return host != NULL && host > text && host[3] != '\0'
           && text[strcspn(text, "/?#@*\\ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '/'
           && strpbrk(host + 3, "/?#@*\\ABCDEFGHIJKLMNOPQRSTUVWXYZ") == NULL
           && !(strncmp(text, "https:", 6) == 0 && strcmp(port, ":443") == 0)
           && !(strncmp(text, "http:", 5) == 0 && strcmp(port, ":80") == 0);
}

/* Check a list of origins, for the same reason: each is compared as a whole, and `*` is not known.
 */
static void
check_origins(TALLOC_CTX *mem, const char *name, const char *list, struct problems *problems)
{
    char *copy = list != NULL ? talloc_strdup(mem, list) : NULL, *rest = copy, *entry;
    while (copy != NULL && (entry = strtok_r(rest, ", \t", &rest)) != NULL)
        if (!is_origin(entry))
            problems_add(mem, problems,
                         "%s: %s is not an origin as browsers send it, such as "
                         "https://inspector.example; write each in lower case, without a path, and "
                         "separate them by commas",
                         name, entry);
    talloc_free(copy);
}

/* Check a list of networks, for the same reason. */
static void
check_networks(TALLOC_CTX *mem, const char *name, const char *list, struct problems *problems)
{
    const char *entry = settings_is_blank(list) ? NULL : network_list_fault(mem, list);
    if (entry != NULL)
        problems_add(mem, problems,
                     "%s: %s is not a network; write ADDRESS or ADDRESS/BITS with no bit set "
                     "behind the prefix, such as 192.0.2.0/24, separated by commas",
                     name, entry);
}

bool
settings_issuer_is_local(TALLOC_CTX *mem, const struct settings *cfg)
{
    struct uri uri;
    return uri_parse(mem, cfg->oidc_issuer, &uri) == AZ_OK && uri_host_is_loopback(uri.host);
}

/* Published keys are for a service that only its own host reaches. */
static void
check_dev_key(TALLOC_CTX *mem, const struct settings *cfg, struct problems *problems)
{
    if (cfg->allow_insecure_dev_key && !settings_issuer_is_local(mem, cfg))
        problems_add(mem, problems,
                     "SVC_ALLOW_INSECURE_DEV_KEY: is true, but SVC_OIDC_ISSUER %s is not at this "
                     "host, so whoever reaches it would own the service; delete it, or set the "
                     "issuer to http://localhost or another address of loopback",
                     cfg->oidc_issuer);
}

/* Letters of a header field's name (RFC 9110 5.6.2). */
#define FIELD_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"

/* True for NAME: VALUE without control characters. */
static bool
is_field(const char *text)
{
    size_t name = strspn(text, FIELD_CHARS);
    const unsigned char *value = (const unsigned char *) text + name + 1;
    if (name == 0 || text[name] != ':' || value[strspn((const char *) value, " \t")] == '\0')
        return false;
    while (*value >= 0x20 && *value < 0x7f)
        value++;
    return *value == '\0';
}

/* Check where the audit stream goes. The value of the header is never printed. */
static void
check_stream(TALLOC_CTX *mem, const struct settings *cfg, struct problems *problems)
{
    if (strcmp(cfg->audit_stream, SETTINGS_STREAM_OFF) != 0
        && settings_is_blank(cfg->audit_stream_url))
        problems_add(mem, problems,
                     "SVC_AUDIT_STREAM_URL: is not set; set the URL of the collector, or "
                     "SVC_AUDIT_STREAM=" SETTINGS_STREAM_OFF);
    if (!settings_is_blank(cfg->audit_stream_header) && !is_field(cfg->audit_stream_header))
        problems_add(mem, problems,
                     "SVC_AUDIT_STREAM_HEADER: must be NAME: VALUE, for example Authorization: "
                     "Bearer and a token");
}

static void
check_cron(TALLOC_CTX *mem, const struct settings *cfg, struct problems *problems)
{
    struct cron cron;
    const char *why;
    if (cron_parse(cfg->session_cleanup_cron, &cron, &why) != AZ_OK)
        problems_add(mem, problems,
                     "SVC_SESSION_CLEANUP_CRON: %s; for example, \"*/5 * * * *\" means every five "
                     "minutes",
                     why);
}

void
settings_check(TALLOC_CTX *mem, struct settings *cfg, struct problems *problems)
{
    /* A missing setting may be in the file that was not read; a new key would lose the secrets in
     * the database. */
    if (cfg->source_unread)
        return;
    for (size_t i = 0; i < sizeof(demands) / sizeof(demands[0]); i++)
        check_demand(mem, cfg, &demands[i], problems);
    /* Evaluation 2 reads the policy input from the audit row, so the row must outlive every token.
     */
    if (cfg->audit_retention_days != 0
        && cfg->audit_retention_days * 86400 < cfg->refresh_family_validity)
        problems_add(mem, problems,
                     "SVC_AUDIT_RETENTION_DAYS: %ld days are shorter than "
                     "SVC_OAUTH_TIMING_REFRESH_FAMILY_VALIDITY_SECONDS; set at least %ld days, or "
                     "0 to keep audit rows forever",
                     cfg->audit_retention_days, (cfg->refresh_family_validity + 86399) / 86400);
    if (cfg->audit_proof_days != 0 && cfg->audit_retention_days > cfg->audit_proof_days)
        problems_add(
            mem, problems,
            "SVC_AUDIT_PROOF_DAYS: %ld days are shorter than SVC_AUDIT_RETENTION_DAYS; set "
            "at least %ld days, or 0 to keep the hashes of all rows",
            cfg->audit_proof_days, cfg->audit_retention_days);
    check_dev_key(mem, cfg, problems);
    check_addresses(mem, "SVC_METRICS_ALLOW", cfg->metrics_allow, problems);
    check_networks(mem, "SVC_ADMIN_NETWORKS", cfg->admin_networks, problems);
    check_networks(mem, "SVC_PLAIN_HTTP_NETWORKS", cfg->plain_http_networks, problems);
    check_origins(mem, "SVC_GATEWAY_ALLOWED_ORIGINS", cfg->gateway_allowed_origins, problems);
    check_stream(mem, cfg, problems);
    /* OpenID Connect Discovery 3: RS256 must be among the algorithms. */
    if (!words_has(cfg->id_token_algs, ID_TOKEN_ALG_DEFAULT))
        problems_add(mem, problems,
                     "SVC_OIDC_ID_TOKEN_ALGS: must contain " ID_TOKEN_ALG_DEFAULT
                     ", which every client understands");
    check_cron(mem, cfg, problems);
    if (strncmp(cfg->opa_url, "unix:/", 6) != 0
        && ((strncmp(cfg->opa_url, "http://", 7) != 0 && strncmp(cfg->opa_url, "https://", 8) != 0)
            || strpbrk(strchr(cfg->opa_url, ':') + 3, "/?#@ \r\n") != NULL))
        problems_add(mem, problems,
                     "SVC_OPA_URL: must be unix:/PATH, http://HOST:PORT or https://HOST:PORT");
}

/* Wipe a text that this process owns. */
static void
forget_text(const char *text)
{
    if (text != NULL)
        explicit_bzero((void *) (uintptr_t) text, strlen(text));
}

void
settings_forget_secrets(struct settings *cfg)
{
    for (const struct setting *row = settings_table; row->name != NULL; row++) {
        const char **at = (const char **) (void *) ((char *) cfg + row->offset);
        if (row->type != SETTING_SECRET || at == &cfg->database_url)
            continue;
        forget_text(getenv(row->name));
        forget_text(row->alias != NULL ? getenv(row->alias) : NULL);
        if (!cfg->allow_insecure_dev_key) /* in that mode they are published constants */
            forget_text(*at);
        *at = NULL;
    }
}
