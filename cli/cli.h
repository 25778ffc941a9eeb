/* authzctl: what a verb is, what the command line said, and what a handler may use. */
#ifndef AZ_CLI_CLI_H
#define AZ_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/op.h"
#include "base/settings.h"

/* Exit statuses; the words of sysexits.h where it has one. */
enum cli_exit {
    CLI_OK = 0,           /* done */
    CLI_FAILED = 1,       /* refused or failed */
    CLI_USAGE = 64,       /* EX_USAGE */
    CLI_UNAVAILABLE = 69, /* EX_UNAVAILABLE: database or policy engine away */
    CLI_CONFIG = 78,      /* EX_CONFIG */
};

/* Most arguments a verb takes. */
#define CLI_ARGUMENTS_MAX 4

/* What the options said; option rows name their member. */
struct cli_choices {
    bool json;          /* one JSON document instead of text */
    bool quiet;         /* no progress lines */
    bool help;          /* print help, do nothing */
    bool version;       /* print the version, do nothing */
    bool offline;       /* config check: settings only */
    bool patch;         /* policy data set: merge into the stored payload */
    bool dry_run;       /* bundle deploy: rehearse and count only */
    bool force;         /* bundle pull: into a directory that holds other files too */
    bool disabled;      /* policy rule set: keep it out of the bundle */
    const char *config; /* becomes SVC_CONFIG */
    const char *label;  /* admin-key mint: what the key is for */
    const char *mode;   /* bundle deploy: merge or replace */
    const char *limit;  /* bundle history: most rows */
    const char *opa;    /* policy test: the engine's program */
    const char *use;    /* keys rotate: oidc or statement */
};

/* One option. A row without `argument` sets a bool, one with it a text. */
struct cli_option {
    const char *name;     /* long name, without -- */
    char letter;          /* short name, 0 without; only for options without argument */
    const char *argument; /* what --help calls the argument, NULL = none */
    size_t offset;        /* of the member of struct cli_choices */
    bool required;        /* the verb is refused without it */
    const char *help;     /* one line; ends option tables when name is NULL */
};

struct cli;

/* One verb: a row of cli_verbs. */
struct cli_verb {
    const char *words;                /* "db migrate" */
    const char *arguments;            /* for the usage line; "" = none */
    int minimum, maximum;             /* how many arguments */
    const struct cli_option *options; /* its own ones, NULL = none */
    const char *const *needs;    /* settings that must be right; NULL = none, no handles made */
    bool schema;                 /* the database must have the schema of this program */
    bool hidden;                 /* not in --help and the manual */
    int (*run)(struct cli *cli); /* exit status */
    const char *help;            /* one line */
    const char *more;            /* a paragraph for the verb's own help, or NULL */
};

/* One run of the program. */
struct cli {
    TALLOC_CTX *mem;                   /* everything */
    char *path;                        /* noun and verb words read so far */
    const struct cli_verb *verb;       /* NULL until they name one */
    struct cli_choices choice;         /* options */
    char *args[CLI_ARGUMENTS_MAX + 1]; /* arguments of the verb */
    int argc;                          /* how many */
    struct problems problems;          /* of the settings */
    struct az *az;                     /* process, NULL when the verb needs none */
    struct op op;                      /* its operation */
};

/* The rows, ended by one without words. */
extern const struct cli_verb cli_verbs[];

/* Options that every verb takes. */
extern const struct cli_option cli_options[];

/* In `needs`: every setting must be right, as for the service. */
extern const char *const cli_needs_all[];

/* Exit statuses and what they mean, for help and manual; ended by a row without meaning. */
struct cli_exit_row {
    enum cli_exit status;
    const char *meaning;
};
extern const struct cli_exit_row cli_exits[];

/*
 * Reads the command line into cli. CLI_OK when there is a verb to run or help or version to print;
 * otherwise the error has been printed.
 */
int cli_parse(struct cli *cli, int argc, char **argv);

/* Whether `words` lies at or below the noun `path` ("" is above all). */
bool cli_below(const char *words, const char *path);

/* Makes what the verb needs and runs it. */
int cli_run(struct cli *cli);

#endif
