/* Verbs that are one request to the admin API each: rows of a table, and one function that runs
 * them. */
#ifndef AZ_CLI_ADMIN_ADMIN_H
#define AZ_CLI_ADMIN_ADMIN_H

#include "cli/lib/call.h"
#include "cli/lib/output.h"

/* Ways to read the text of an option. */
enum admin_kind {
    ADMIN_TEXT,   /* as it is */
    ADMIN_WORDS,  /* words between blanks: a JSON list */
    ADMIN_NUMBER, /* digits */
    ADMIN_TRUE,   /* a switch: true */
    ADMIN_FALSE,  /* a switch: false */
    ADMIN_OBJECT, /* a file with a JSON object */
    ADMIN_LOGO,   /* a file with a picture: a data: URL */
};

/* An option that becomes a member of the body, or a parameter of the query. */
struct admin_member {
    size_t offset;        /* of the option in struct cli_choices */
    const char *name;     /* member or parameter; NULL ends a list */
    enum admin_kind kind; /* only ADMIN_TEXT in a query */
};

/* Most members of one verb: those of a client are 17. */
#define ADMIN_MEMBERS_MAX 24

/* The option --subject of a filter. */
#define ADMIN_BY_SUBJECT                                                                           \
    {                                                                                              \
        "subject", 0, "SUBJECT", offsetof(struct cli_choices, subject), false,                     \
            "Show those of SUBJECT alone"                                                          \
    }

/* The member `verb` of a row, and of one whose function does more than admin_run(). */
#define ADMIN_VERB_RUN(words, arguments, count, options, needs, run, help, more)                   \
    {                                                                                              \
        words, arguments, count, count, options, needs, CLI_ANYWHERE, false, run, help, more       \
    }
#define ADMIN_VERB(words, arguments, count, options, needs, help, more)                            \
    ADMIN_VERB_RUN(words, arguments, count, options, needs, admin_run, help, more)

/* One verb. A row is all that the program knows of it. */
struct admin_verb {
    struct cli_verb verb; /* its part of the command line; first, so that its address is the row */
    const char *method;   /* GET, POST, PUT, DELETE */
    const char *path;     /* of the API; each {} stands for the next argument */
    const char *key;      /* member of the body for that argument, or NULL */
    const struct admin_member *members;  /* of the body, or parameters of a GET or DELETE; or
                                            NULL */
    const struct output_column *columns; /* of an answer that is a list; NULL: one object */
    const char *list;                    /* member of the answer with the list; NULL: all of it */
    const char *done;                    /* printed after a 204, behind the first word of the
                                            verb and the argument: "was deleted" */
    const char *missing;                 /* printed for 404, with the argument */
    bool key_is_number;                  /* the member `key` is a number */
};

/* The tables by subject, each ended by a row without words; and all of them, ended by NULL. */
extern const struct admin_verb people_verbs[], gateway_verbs[], audit_verbs[];
extern const struct admin_verb *const admin_verbs[];

/* Run a verb of these tables. Return an enum cli_exit. */
int admin_run(struct cli *cli);

/* Columns of a signing key. */
extern const struct output_column key_columns[];

/* Filters of the audit log and the report, and the columns of a row of the log. */
extern const struct admin_member audit_export_filters[], audit_tail_filters[], report_filters[];
extern const struct output_column audit_columns[];

/* Set the members of the options that were given. False: a text is not a number, or there is no
 * memory; the error was printed. */
bool admin_fill(struct cli *cli, const struct admin_member *members, json_t *body);

/* Fill the parameters of the options that were given; returns their number. */
size_t admin_query(const struct cli *cli, const struct admin_member *members,
                   struct query_pair pairs[ADMIN_MEMBERS_MAX]);

/* Run the request of a verb that is one; returns the exit status. */
int admin_ask(struct cli *cli, struct answer *ret);

/* Print the answer of such a verb. */
int admin_show(const struct cli *cli, const struct answer *answer);

/* Take a member out of an answer that is printed in parts; NULL: it has none. On cli->mem. */
json_t *admin_take(const struct cli *cli, json_t *object, const char *name);

/* Add the words of each list (an object of lists) to the lists of a binding, or remove them. An
 * empty list goes. True if the binding changed. */
bool entitle_change(json_t *binding, const json_t *words, bool remove);

/* Print one object: its members as lines, or with --json as it is. */
void admin_print_object(const struct cli *cli, json_t *object);

#endif
