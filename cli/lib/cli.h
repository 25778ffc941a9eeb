/*
 * authzctl: a verb, the parsed command line, and the state of one run. The files of the verbs are
 * one family: they share this header, and verbs.h declares their handlers.
 */
#ifndef AZ_CLI_LIB_CLI_H
#define AZ_CLI_LIB_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/op.h"
#include "base/settings/settings.h"

/* Exit statuses; named as in sysexits.h where it has the status. */
enum cli_exit {
    CLI_OK = 0,           /* success */
    CLI_FAILED = 1,       /* refused or failed */
    CLI_NOTABLE = 2,      /* done, and found what it was asked to look for: plan --check; or not
                             done, because nobody could be asked: CLI_YES */
    CLI_USAGE = 64,       /* EX_USAGE */
    CLI_UNAVAILABLE = 69, /* EX_UNAVAILABLE: database or policy engine not reachable */
    CLI_CONFIG = 78,      /* EX_CONFIG */
};

/* Most arguments of a verb. */
#define CLI_ARGUMENTS_MAX 4

/* Values of the options; each option row names its member. */
struct cli_choices {
    bool json;          /* print one JSON document instead of text */
    bool quiet;         /* print no progress lines */
    bool help;          /* print help and do nothing else */
    bool version;       /* print the version and do nothing else */
    bool offline;       /* config check: settings only; db migrate: the service is stopped */
    bool patch;         /* policy data set: merge into the stored payload */
    bool dry_run;       /* bundle deploy: check and count only */
    bool coverage;      /* policy test: show the lines that no test evaluates */
    bool force;         /* bundle pull: accept a directory that holds other files; connector sync */
    bool disabled;      /* policy rule set: keep the rule out of the bundle */
    bool yes;           /* verbs that cannot be undone: do not ask */
    bool start;         /* setup: start the service */
    bool check;         /* plan: end with status 2 if there are changes */
    bool prune;         /* apply: delete strays */
    const char *out;    /* plan: file for apply */
    const char *owner;  /* export: owner of the objects */
    bool defaults;      /* setup: do not ask */
    const char *config; /* becomes SVC_CONFIG */
    const char *label;  /* admin-key mint: purpose of the key */
    const char *role;   /* admin-key mint: what it may do; NULL: everything */
    const char *ends;   /* admin-key mint: end of the key, or NULL */
    const char *mode;   /* bundle deploy: merge or replace */
    const char *after;  /* bundle deploy: revision that must be active */
    const char *note;   /* verbs that save policy: message for the history */
    const char *dir;    /* bundle diff: directory to compare */
    const char *grant;  /* db migrate: role of the service */
    const char *limit;  /* bundle history: most rows */
    const char *opa;    /* policy test: program of the policy engine */
    const char *policies;   /* cedar authorize: file of policies */
    const char *entities;   /* cedar authorize: file of entities */
    const char *engine;     /* cedar: builtin or opa */
    const char *use;        /* keys rotate: a use of keys */
    const char *issuer;     /* setup: public URL */
    const char *uri;        /* setup: database as a libpq URI */
    const char *web_server; /* setup: the web server as the engine reaches it */
    bool replace_sites;     /* setup: lighttpd may have other sites */
    bool ready;             /* health: whether it can decide, too */
    const char *workers;    /* serve: processes of the core pool */
    const char *sockets;    /* serve: directory of the sockets */
    const char *web_config; /* serve: configuration of the web server */
    const char *server;     /* URL of the service whose admin API is used, NULL: the database */
    const char *key_file;   /* file with the admin key for it */

    /* Members and filters of the verbs of the admin API (admin_verbs.c). */
    bool enable, disable, dpop_bound, dpop_optional, pkce_required, pkce_optional, auth_time,
        no_auth_time, all, create, send;
    const char *url, *default_scope, *pin, *idp, *prompts;
    const char *name, *type, *auth_method, *redirect_uris, *logout_uris, *scopes, *client_uri;
    const char *logo_uri, *logo, *jwks, *jwks_uri, *id_token_alg, *file, *client, *subject,
        *authorization_endpoint;
    const char *token_endpoint, *userinfo_endpoint, *previous_ttl;
    const char *claims, *discovery_url, *issuer_aliases; /* of an identity provider */
    const char *grants, *resources, *endpoints, *gateway_scopes;
    const char *endpoint, *outcome, *flow, *request, *operation, *http_status, *from, *to;
    const char *from_instant, *to_instant, *format, *page, *interval, *input;
    bool impact; /* verbs that save policy: measure the save first */
    const char *since, *decisions, *override_reason, *reason;
    const char *rule_path, *data_key, *filters, *examples; /* policy impact */
    const char *rate, *until; /* policy shadow set: share of decisions, and end */
    bool replace;             /* so: end the shadow that is active */
    const char *max_newly_denied, *max_newly_allowed, *max_narrowed, *max_widened, *max_other,
        *max_failing, *max_not_known;
};

/* One option. A row without `argument` sets a bool, one with it a text. */
struct cli_option {
    const char *name;     /* long name, without --; NULL ends an option table */
    char letter;          /* short name, or 0 if there is none */
    const char *argument; /* name of the argument in --help, or NULL; one that ends in ... may be
                             given several times, and the values are joined by blanks */
    size_t offset;        /* offset of the member in struct cli_choices */
    bool required;        /* the verb cannot run without it */
    const char *help;     /* one line */
};

struct cli;

/* A verb works in one of these places. */
enum cli_place {
    CLI_FILES, /* on files and programs of this host, not on its service: --server has no effect */
    CLI_HOST,  /* on this host alone, with its settings or database */
    CLI_DATABASE, /* on the database, which must have the schema of this program */
    CLI_ANYWHERE, /* the same, or with --server over the admin API */
};

/* One verb: a row of the table of its room. */
struct cli_verb {
    const char *words;                /* "db migrate" */
    const char *arguments;            /* for the usage line, or "" */
    int minimum, maximum;             /* number of arguments */
    const struct cli_option *options; /* the verb's own options, or NULL */
    const char *const *needs; /* settings that must be valid; NULL: the verb needs no setting, and
                                 cli->az stays NULL */
    enum cli_place place;     /* where it works */
    bool hidden;              /* left out of --help and the manual */
    int (*run)(struct cli *cli); /* returns the exit status */
    const char *help;            /* one line */
    const char *more;            /* a paragraph for the verb's own help, or NULL */
};

/* One run of the program. */
struct cli {
    TALLOC_CTX *mem;                   /* owns everything */
    const struct cli_verb *verbs;      /* the table, ended by a row without words */
    char *path;                        /* noun and verb words read so far */
    const struct cli_verb *verb;       /* NULL until the words name one */
    struct cli_choices choice;         /* options */
    char *args[CLI_ARGUMENTS_MAX + 1]; /* arguments of the verb */
    int argc;                          /* number of arguments */
    struct problems problems;          /* problems of the settings */
    struct az *az;                     /* process, NULL when the verb needs none */
    struct az_operator by_operator;    /* of az: authzctl */
    const char *key;                   /* admin key for --server; secret; NULL if no key is sent */
    struct op op;                      /* operation of the verb */
    struct op_watch watch;             /* of op, if standard error is a terminal */
    char *told;                        /* the last text of the watch, which is not repeated */
};

/* Return the verbs of all rooms, sorted by words, which is also the order of --help and the manual;
 * a row without words ends them. NULL: no memory. On mem. */
const struct cli_verb *cli_verbs(TALLOC_CTX *mem);

/* Options that every verb takes. */
extern const struct cli_option cli_options[];

/* Row of the option --yes. A verb that has it cannot be undone (run_ends()), and asks before it
 * runs; without a terminal it is refused. */
#define CLI_YES                                                                                    \
    {                                                                                              \
        "yes", 'y', NULL, offsetof(struct cli_choices, yes), false,                                \
            "Do not ask; needed where there is no terminal"                                        \
    }

/* Row of the option --message of a verb that saves policy. */
#define CLI_MESSAGE                                                                                \
    {                                                                                              \
        "message", 'm', "MESSAGE", offsetof(struct cli_choices, note), false,                      \
            "Keep MESSAGE in the history of bundles: one line of at most 500 octets"               \
    }

/* Value of `needs`: every setting must be valid, as for the service. */
extern const char *const cli_needs_all[];

/*
 * Parse the command line into cli, whose `verbs` is set. CLI_OK when there is a verb to run or help
 * or the version to print; otherwise the error has been printed.
 */
int cli_parse(struct cli *cli, int argc, char **argv);

/* True if `words` is `path` or lies below it ("" is above all). */
bool cli_below(const char *words, const char *path);

/* Return the words that may follow `path`, each once, in table order, ended by NULL. On mem. */
const char *const *cli_words_below(TALLOC_CTX *mem, const struct cli_verb *verbs, const char *path);

/* Check the settings that the verb needs, connect what it uses, and run it. Returns the exit
 * status. */
int cli_run(struct cli *cli);

#endif
