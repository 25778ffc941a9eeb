/* Settings: SVC_ variables from the environment or authz.conf. settings_table.c describes each of
 * them in one row. */
#ifndef AZ_BASE_SETTINGS_SETTINGS_H
#define AZ_BASE_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <talloc.h>

/* Largest value of SVC_MAX_REDIRECT_URIS: each request with a redirect_uri reads the list. */
#define SETTINGS_REDIRECT_URIS_MAX 1000

/* Algorithm of ID tokens that every client understands (OpenID Connect Core 15.1), and all that
 * this program can sign them by; the list ends with NULL. */
#define ID_TOKEN_ALG_DEFAULT "RS256"
extern const char *const settings_id_token_algs[];

/* The values of SVC_POLICY_ENGINE: the service decides in its own processes, or asks OPA. */
#define SETTINGS_EMBEDDED "embedded"
#define SETTINGS_OPA "opa"

/* The value of SVC_AUDIT_STREAM with which no rows are sent. */
#define SETTINGS_STREAM_OFF "off"

/* The value of SVC_REFRESH_BRANCHES with which programs at one address share a sign-in. */
#define SETTINGS_SAME_ADDRESS "same_address"

/* The default of SVC_LANGUAGES_DIR, a directory that may be missing. */
#define SETTINGS_LANGUAGES_DIR "/etc/authz/languages"

/* Words of SVC_DPOP_SIGNING_ALGS: the algorithms of crypto/jws.h; ends with NULL. */
extern const char *const settings_dpop_algs[];

/* Lifetimes of an auth_req_id, in seconds, for the setting and for requested_expiry: time enough to
 * take a telephone out, but not so long that the person approves a forgotten request by mistake. */
#define SETTINGS_AUTH_REQ_LEAST 30
#define SETTINGS_AUTH_REQ_MOST 600

/* Type of a setting. */
enum setting_type {
    SETTING_TEXT,     /* any text */
    SETTING_SECRET,   /* any text, never printed */
    SETTING_BOOL,     /* true or false */
    SETTING_NUMBER,   /* decimal within minimum and maximum */
    SETTING_DURATION, /* seconds, or a number with s, m, h or d; kept in seconds */
    SETTING_SIZE,     /* octets, or a number with B, KB, MB or GB; kept in octets */
    SETTING_ISSUER,   /* https (or http) URL without query, fragment or final slash (RFC 8414 2) */
    SETTING_CHOICE,   /* one of the words in `choices` */
    SETTING_LIST, /* words of `choices`, separated by commas; kept as a list without repetitions */
};

/* The parsed values. A member has the name of its variable without SVC_. */
struct settings {
    const char *oidc_issuer;         /* our own address; every published URL begins with it */
    const char *database_url;        /* libpq connection string or URI */
    const char *database_read_url;   /* the same of a standby that may answer reads, or NULL */
    const char *opa_url;             /* unix:/path/to/socket or http://host:port */
    const char *policy_engine;       /* opa or embedded */
    const char *opa_binary;          /* program that plans a policy, for embedded */
    const char *data_dir;            /* installed sql/, policy/ and www/ */
    const char *runtime_dir;         /* directory of the shared counters, mode 0700 */
    const char *connectors_dir;      /* the operator's own manifests of connectors, or NULL */
    const char *www_dir;             /* the operator's own pages, or NULL */
    const char *pages_name;          /* name of the service on the pages, NULL: the issuer's host */
    const char *pages_logo;          /* file of www_dir with the logo on the pages, or NULL */
    const char *languages_dir;       /* the operator's own texts of the pages */
    const char *log_level;           /* debug, info, warn or error */
    const char *log_format;          /* json or text */
    const char *admin_api_key;       /* the first admin key */
    const char *admin_pepper;        /* key of the lookup HMAC of admin keys */
    const char *credential_key;      /* seals secrets at rest */
    const char *credential_old;      /* opens them too; may be "" */
    const char *bundle_api_key;      /* key with which the engine fetches its bundle */
    bool admin_enabled;              /* false: /admin answers 404 to key holders */
    const char *admin_networks;      /* networks that may use /admin, NULL: all */
    const char *plain_http_networks; /* networks whose requests by http are taken with an https
                                        issuer, or NULL */
    bool allow_insecure_dev_key;     /* development only: open admin API, public fallback keys */
    bool allow_shared_settings;      /* take files of settings that other accounts can use */
    bool rate_limit_enabled;         /* count requests per client address */
    long rate_limit_requests;        /* requests per window and address */
    long rate_limit_window;          /* seconds */
    long trusted_proxy_count;        /* trusted X-Forwarded-For entries, counted from the right */
    long max_redirect_uris;          /* per client */
    long policy_timeout_ms;          /* longest wait for one decision, milliseconds */
    long policy_witness_rate;    /* OPA is asked about one in so many decisions of the machine; 0:
                                    about no decision */
    long access_token_validity;  /* seconds */
    long jwks_cache_seconds;     /* max-age of the key set, seconds */
    long key_retirement_seconds; /* time for which a retired signing key stays published, seconds */
    bool bundle_confirm_activation; /* wait for the engine's verdict on a save */
    long bundle_confirm_poll_ms;    /* interval between checks of the engine status, milliseconds */
    long bundle_confirm_timeout_ms; /* longest wait for the verdict, milliseconds */
    long bundle_fetch_grace_ms;  /* an engine silent for longer is not waited for, milliseconds */
    bool allow_network_builtins; /* rules may use the builtins of rule_builtins.h */
    long audit_retention_days;   /* audit partitions older than this are dropped; 0 keeps all */
    long audit_export_max_rows;  /* rows of one export */
    long impact_decisions;       /* decisions of one measurement of a policy change */
    long impact_seconds;         /* seconds of it */
    long impact_keep_days;       /* days for which its result is kept */
    long audit_proof_days;       /* hashes of audit rows stay for these days; 0: for ever */
    const char *audit_checkpoint_file; /* checkpoints are appended to it, NULL: to none */
    const char *audit_checkpoint_url;  /* checkpoints are posted to it, NULL: to none */
    bool audit_public;                 /* checkpoint and keys at /audit/ */
    const char *audit_stream;          /* off, otlp or ocsf */
    const char *audit_stream_url;      /* of the collector, or NULL */
    const char *audit_stream_header;   /* "NAME: VALUE" of its requests, secret; or NULL */
    bool audit_stream_documents;       /* with question and answer of policy */
    const char *traces_url;            /* spans of requests are posted to it, NULL: to none */
    long traces_one_in;                /* one request in so many */
    long refresh_family_validity;      /* longest life of a refresh family, seconds */
    long shutdown_phase_timeout;    /* time of a stopping process to finish its request, seconds */
    long code_validity;             /* lifetime of an authorization code, seconds */
    long ticket_validity;           /* lifetime of a UMA permission ticket, seconds */
    long auth_req_validity;         /* lifetime of an auth_req_id, seconds */
    long ciba_interval;             /* between two polls of a CIBA request, seconds */
    long id_token_validity;         /* seconds */
    const char **id_token_algs;     /* algorithms of ID tokens, RS256 among them; ends with NULL */
    long refresh_token_validity;    /* an unused refresh token expires, seconds */
    long refresh_reuse_window;      /* a rotated refresh token is accepted again, seconds */
    const char *refresh_branches;   /* SETTINGS_SAME_ADDRESS or off */
    bool pkce_required;             /* confidential clients need a code_challenge too */
    bool dpop_enabled;              /* tokens can be bound to a key (RFC 9449) */
    long dpop_iat_window;           /* iat of a proof may differ from now by this, seconds */
    bool dpop_nonce_enabled;        /* every proof needs a nonce of ours */
    long dpop_nonce_ttl;            /* most seconds that a nonce is accepted */
    const char **dpop_signing_algs; /* algorithms of proofs; ends with NULL */
    long session_timeout;           /* an unused browser session ends, seconds */
    long session_max_age;           /* any browser session ends, seconds after its sign-in */
    const char *session_cleanup_cron; /* schedule for removing ended sessions and sign-ins */
    bool session_cookie_secure;       /* cookies are for HTTPS only */
    const char *subject_home_issuer;  /* its subjects keep their names; NULL: the stored one */
    long dynamic_client_idle_days;    /* DCR and CIMD clients are removed when unused; 0: never */
    long dynamic_clients_max;         /* most clients of one registration type */
    long cimd_fetch_timeout;          /* whole transfer, seconds */
    long cimd_max_document_size;      /* octets */
    long cimd_cache_ttl;              /* a document is fetched again after this time, seconds */
    bool cimd_allow_insecure;         /* http for the hosts below */
    const char *cimd_insecure_hosts;  /* comma-separated */
    bool safe_http_allow_insecure;    /* http and private addresses for the hosts below */
    const char *safe_http_insecure_hosts; /* comma-separated */
    const char *safe_http_ca_file;        /* PEM file of roots, NULL: those of the system */
    long safe_http_timeout;               /* whole transfer, seconds */
    bool client_assertion_strict_aud;     /* aud of a client assertion is the issuer alone */
    const char *spiffe_audience;          /* aud of JWT-SVIDs; NULL: the issuer */
    long spiffe_refresh;                  /* longest life of a trust bundle, seconds */
    bool software_statement_verify;       /* verify the signatures of software statements */
    long software_statement_lifetime;     /* of issued statements, seconds */
    long statement_key_retirement; /* time for which a retired key stays published, seconds */
    bool discard_per_user;         /* delete per-user secrets and sessions at start-up */
    const char *metrics_allow;     /* addresses that may read /metrics, comma-separated */
    bool swagger_enabled;          /* serve /openapi.json and /swagger-ui/ */
    const char *metrics_token;     /* Bearer token for /metrics, or NULL */
    const char
        *gateway_insecure_hosts;     /* upstreams with http or private addresses, comma-separated */
    bool gateway_enabled;            /* false: every path below /gateway is 404 */
    const char *gateway_tool_list;   /* what tools/list of /gateway/mcp shows: auto, all, search */
    bool gateway_ask_all_scopes;     /* challenges of the gateway name the scopes of everything */
    long check_proxy_count;          /* entries of X-Forwarded-For that web servers with a good
                                        credential at /auth/check vouch for, from the right */
    long gateway_tool_name_max;      /* octets of a tool's name in lists of MCP clients */
    long gateway_streams;            /* streams that wait for changes, on one host */
    long check_rate_limit;           /* questions at /auth/check per window and address of a
                                        caller; 0: no limit */
    const char *check_socket_client; /* of web servers on our UNIX sockets that ask as an
                                        authorizer, or NULL */
    long gateway_connect_timeout;    /* of a connection to an upstream, seconds */
    long gateway_response_timeout;   /* until the head of an upstream's answer, seconds */
    long gateway_max_body_size;      /* of a body, both ways, octets */
    const char *gateway_link_state_secret;   /* signs the state of links; NULL: derived */
    const char *gateway_link_state_previous; /* the secret before it, or NULL */
    const char *gateway_allowed_origins; /* of pages that may call /gateway/mcp, comma-separated */
    const char *source_file;             /* authz.conf that was read, NULL if there is none */
    bool source_unread;      /* authz.conf is there and cannot be read: nothing else is known */
    const char **origin;     /* by table row: "default", "environment" or "FILE:LINE" */
    const char **value_file; /* by table row: the file that NAME_FILE named, or NULL */
    /* As database_url, of PostgreSQL behind a pooler, or NULL. */
    const char *database_direct_url;
};

/* One row of the settings table. */
struct setting {
    const char *name;           /* the variable */
    const char *alias;          /* older name that is accepted too, or NULL */
    enum setting_type type;     /* type of the value */
    size_t offset;              /* offset of the member in struct settings */
    const char *fallback;       /* default, or NULL */
    long minimum, maximum;      /* of the types that are numbers */
    const char *const *choices; /* SETTING_CHOICE and SETTING_LIST, NULL-terminated */
    const char *help;           /* one line for `config doc` and the manual */
};

/* Rows of the table; the last has name NULL. */
extern const struct setting settings_table[];

/* Lines for the administrator, one per problem: the variable or FILE:LINE, the problem and the
 * remedy. */
struct problems {
    char **line;  /* talloc array */
    size_t count; /* lines in it */
};

/*
 * Read authz.conf (SVC_CONFIG, else `file`, which may be missing) and the environment, which takes
 * precedence. Problems are added to `problems`; invalid settings keep their defaults, and of a name
 * that is in the file twice the first value stays. Nothing is taken from a file that other accounts
 * can read or change, unless SVC_ALLOW_SHARED_SETTINGS of the environment allows it. NULL only when
 * out of memory.
 */
struct settings *settings_load(TALLOC_CTX *mem, const char *file, struct problems *problems);

/*
 * Check the secrets (specification 5.2): refuse a blank admin key, a blank or development pepper, a
 * missing credential key and a blank or development bundle key, and each that is too short, unless
 * the development switch is on; then public values replace missing secrets. Check rules between
 * settings too. Adds one line per problem.
 */
void settings_check(TALLOC_CTX *mem, struct settings *cfg, struct problems *problems);

/* Add one line per setting that is valid but probably a mistake: cookies that are exposed or
 * lost, an http or default issuer, development mode, an incomplete SVC_DATA_DIR, a file of settings
 * that others can use and SVC_ALLOW_SHARED_SETTINGS allows, an SVC_ name in the environment that is
 * no setting. */
void settings_warn(TALLOC_CTX *mem, const struct settings *cfg, struct problems *warnings);

/* Wipe the secrets of a process that needs none of them, in its environment too; all but the
 * address of the database, which may hold a password. */
void settings_forget_secrets(struct settings *cfg);

/* Return the row of a name or of its alias, or NULL if there is none. */
const struct setting *settings_find(const char *name);

/* True if parts of the audit log are sent to other servers. */
bool settings_sends_audit(const struct settings *cfg);

/* True if the service decides in its own processes (SVC_POLICY_ENGINE). */
bool settings_engine_is_embedded(const struct settings *cfg);

/* True if the issuer, and with it every page of the service, is at an https URL. */
bool settings_issuer_is_https(const struct settings *cfg);

/* Return what to do about a name that is no setting: the nearest ones, or where all are. On mem. */
const char *settings_hint(TALLOC_CTX *mem, const char *name);

/* True if a name is a setting or one that is accepted and ignored. */
bool settings_knows(const char *name);

/* True if the value is a number, perhaps with a unit. */
bool setting_is_number(const struct setting *row);

/* True if the issuer is at this host: localhost, 127.0.0.1 or [::1]. On mem, for a moment. */
bool settings_issuer_is_local(TALLOC_CTX *mem, const struct settings *cfg);

/* True if a value counts as not set: NULL, or blanks alone. */
bool settings_is_blank(const char *text);

/* Return the end of a sentence that names the units of such a setting; "": it has none. */
const char *settings_units(const struct setting *row);

/* Return the value of a setting as text, secrets masked; on mem. */
const char *settings_text(TALLOC_CTX *mem, const struct settings *cfg, const struct setting *row);

/* Add a problem line. */
void problems_add(TALLOC_CTX *mem, struct problems *problems, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
