/* Settings: SVC_ variables from the environment or authz.conf. One table (settings.c) holds all
 * there is to know of each. */
#ifndef AZ_BASE_SETTINGS_H
#define AZ_BASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <talloc.h>

/* How the text of a setting is read. */
enum setting_type {
    SETTING_TEXT,     /* any text */
    SETTING_SECRET,   /* any text; never printed */
    SETTING_BOOL,     /* true or false */
    SETTING_NUMBER,   /* decimal within minimum and maximum */
    SETTING_DURATION, /* seconds, or a number with s, m, h or d; kept in seconds */
    SETTING_ISSUER,   /* https (or http) URL without query, fragment or final slash (RFC 8414 2) */
    SETTING_CHOICE,   /* one of the words in `choices` */
};

/* The values, as the program reads them. Members are named after their variable without SVC_. */
struct settings {
    const char *oidc_issuer;        /* our own address; every URL we publish begins with it */
    const char *database_url;       /* libpq connection string or URI */
    const char *opa_url;            /* unix:/path/to/socket or http://host:port */
    const char *data_dir;           /* installed sql/, policy/ and www/ */
    const char *runtime_dir;        /* directory of the shared counters, mode 0700 */
    const char *log_level;          /* debug, info, warn or error */
    const char *admin_api_key;      /* the first admin key */
    const char *admin_pepper;       /* key of the lookup HMAC of admin keys */
    const char *credential_key;     /* seals secrets at rest */
    const char *bundle_api_key;     /* what the engine shows to fetch its bundle */
    bool admin_enabled;             /* false: /admin answers 404 to key holders */
    bool allow_insecure_dev_key;    /* development only: open admin API, public fallback keys */
    bool rate_limit_enabled;        /* count requests per client address */
    long rate_limit_requests;       /* requests per window and address */
    long rate_limit_window;         /* seconds */
    long trusted_proxy_count;       /* X-Forwarded-For entries we trust, counted from the right */
    long max_redirect_uris;         /* per client */
    long policy_timeout_ms;         /* longest wait for one decision, milliseconds */
    long access_token_validity;     /* seconds */
    long jwks_cache_seconds;        /* max-age of the key set, seconds */
    long key_retirement_seconds;    /* a retired signing key stays published so long, seconds */
    bool bundle_confirm_activation; /* wait for the engine's verdict on a save */
    long bundle_confirm_poll_ms;    /* milliseconds between looks at the engine's status */
    long bundle_confirm_timeout_ms; /* longest wait for the verdict, milliseconds */
    long audit_retention_days;      /* audit partitions older than this are dropped; 0 keeps all */
    long refresh_family_validity;   /* longest life of a refresh family, seconds */
    long shutdown_phase_timeout;    /* seconds a stopping process may finish its request */
    long code_validity;             /* authorization code, seconds */
    long id_token_validity;         /* seconds */
    long refresh_token_validity;    /* a refresh token that is not used dies, seconds */
    long refresh_reuse_window;      /* a rotated refresh token may be used again, seconds */
    long session_timeout;           /* a browser session that is not used ends, seconds */
    const char *session_cleanup_cron; /* when ended sessions and sign-ins are removed */
    bool session_cookie_secure;       /* cookies are for HTTPS only */
    const char *subject_home_issuer;  /* its subjects keep their names; NULL: the oldest provider */
    long dynamic_client_idle_days; /* unused DCR and CIMD clients go after so long; 0 keeps them */
    long dynamic_clients_max;      /* clients that registered themselves, all together */
    long cimd_fetch_timeout;       /* whole transfer, seconds */
    long cimd_max_document_size;   /* octets */
    long cimd_cache_ttl;           /* longest life of a fetched document, seconds */
    bool cimd_allow_insecure;      /* http for the hosts below */
    const char *cimd_insecure_hosts;      /* comma-separated */
    bool safe_http_allow_insecure;        /* http and private addresses for the hosts below */
    const char *safe_http_insecure_hosts; /* comma-separated */
    const char *safe_http_ca_file;        /* PEM file of further roots, NULL: the system's alone */
    long safe_http_timeout;               /* whole transfer, seconds */
    bool software_statement_verify;       /* check the signature of software statements */
    long software_statement_lifetime;     /* of those we issue, seconds */
    long statement_key_retirement;        /* a retired statement key stays published, seconds */
    bool discard_per_user;                /* delete per-user secrets and sessions at start */
    const char *source_file;              /* authz.conf that was read, NULL if none */
    const char **origin; /* by table row: "default", "environment" or "FILE:LINE" */
};

/* One row of the settings table. */
struct setting {
    const char *name;           /* the variable */
    const char *alias;          /* older name that also counts, or NULL */
    enum setting_type type;     /* how it is read */
    size_t offset;              /* where it goes in struct settings */
    const char *fallback;       /* default, NULL = none */
    long minimum, maximum;      /* SETTING_NUMBER and SETTING_DURATION */
    const char *const *choices; /* SETTING_CHOICE, NULL-terminated */
    const char *help;           /* one line for `config doc` and the manual */
};

/* Rows of the table; the last has name NULL. */
extern const struct setting settings_table[];

/* Lines for the operator: one problem each, naming the variable or FILE:LINE, what is wrong and
 * what to do. */
struct problems {
    char **line;  /* talloc array */
    size_t count; /* lines in it */
};

/*
 * Reads authz.conf (SVC_CONFIG, else `file`; a missing default file is no problem) and the
 * environment; the environment wins. Problems are added to `problems`; the settings are complete as
 * far as they could be read. Never NULL but when memory is short.
 */
struct settings *settings_load(TALLOC_CTX *mem, const char *file, struct problems *problems);

/*
 * The start-up refusals of specification 5.2: blank admin key, blank or development pepper, missing
 * credential key, blank or development bundle key, unless the development switch is on (then public
 * fallbacks fill the gaps), and rules between settings. Adds one line per problem.
 */
void settings_check(TALLOC_CTX *mem, struct settings *cfg, struct problems *problems);

/* The text of one setting's value (secrets masked), allocated on mem. */
const char *settings_text(TALLOC_CTX *mem, const struct settings *cfg, const struct setting *row);

/* Adds a problem line. */
void problems_add(TALLOC_CTX *mem, struct problems *problems, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
