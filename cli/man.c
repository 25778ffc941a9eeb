/* manual: authzctl(8) and authz.conf(5), the tables of verbs and settings as roff with man(7)
 * macros. */
#include "config.h"

#include <string.h>

#include "base/settings/settings.h"
#include "cli/help.h"
#include "cli/lib/output.h"
#include "cli/verbs.h"

/* Write a text inside a line; roff gives backslash, minus and a leading dot or quote a meaning. */
static void
man_text(FILE *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text != '\0'; text++) {
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            putc(*text, out);
    }
}

/* Write `macro "text"`; the quotes make the text one argument. */
static void
man_macro(FILE *out, const char *macro, const char *text)
{
    fprintf(out, "%s \"", macro);
    man_text(out, text);
    fputs("\"\n", out);
}

static void
man_line(FILE *out, const char *text)
{
    man_text(out, text);
    putc('\n', out);
}

/* Write a tagged paragraph. */
static void
man_entry(FILE *out, const char *tag, const char *text)
{
    fputs(".TP\n", out);
    man_macro(out, ".B", tag);
    man_line(out, text);
}

static void
man_options(FILE *out, TALLOC_CTX *mem, const struct cli_option *options)
{
    for (; options != NULL && options->name != NULL; options++)
        man_entry(out, help_option(mem, options), talloc_asprintf(mem, "%s.", options->help));
}

static void
man_verb(FILE *out, TALLOC_CTX *mem, const struct cli_verb *verb)
{
    man_entry(out, help_synopsis(mem, verb), talloc_asprintf(mem, "%s.", verb->help));
    if (verb->more != NULL)
        man_line(out, verb->more);
    if (help_place(verb) != NULL)
        man_line(out, help_place(verb));
    if (verb->options != NULL) {
        fputs(".RS\n", out);
        man_options(out, mem, verb->options);
        fputs(".RE\n", out);
    }
}

static void
man_verbs(FILE *out, TALLOC_CTX *mem, const struct cli_verb *row)
{
    const char *noun = "";
    for (; row->words != NULL; row++) {
        if (row->hidden)
            continue;
        const char *own = help_noun(mem, row);
        if (strcmp(noun, own) != 0)
            man_macro(out, ".SS", noun = own);
        man_verb(out, mem, row);
    }
}

static void
man_exits(FILE *out, TALLOC_CTX *mem)
{
    fputs(".SH EXIT STATUS\n", out);
    for (const struct help_exit *row = help_exits; row->meaning != NULL; row++)
        man_entry(out, talloc_asprintf(mem, "%d", row->status),
                  talloc_asprintf(mem, "%s.", row->meaning));
}

/* Tasks that take more than one option or verb. */
static const struct {
    const char *task, *command;
} man_examples[] = {
    {"Check the settings and what they lead to",                         "authzctl config check"                                 },
    {"Create the schema, or upgrade it",                                 "authzctl db migrate"                                   },
    {"Create an admin key and keep it in a file",
     "(umask 077; authzctl admin-key mint --label ops > admin.key)"                                                              },
    {"Let the client demo get tokens and introspect",
     "echo "
     "'{\"clients\":{\"demo\":{\"grants\":[\"client_credentials\"],\"scopes\":[\"orders.read\"],"
     "\"endpoints\":[\"introspect\"]}}}' | authzctl policy data set --patch "
     "svc.entitlements.bindings -"                                                                                               },
    {"Keep policy in git: write it, test it, try the deploy, deploy it",
     "authzctl bundle pull policy && authzctl policy test policy && "
     "authzctl bundle deploy --dry-run policy && authzctl bundle deploy policy"                                                  },
    {"Undo a deploy",                                                    "authzctl bundle history && authzctl bundle rollback 41"},
};

static void
man_put_examples(FILE *out, TALLOC_CTX *mem)
{
    fputs(".SH EXAMPLES\n", out);
    for (size_t i = 0; i < sizeof(man_examples) / sizeof(man_examples[0]); i++) {
        fputs(".PP\n", out);
        man_line(out, talloc_asprintf(mem, "%s:", man_examples[i].task));
        fputs(".PP\n.nf\n.RS 4\n", out);
        man_line(out, man_examples[i].command);
        fputs(".RE\n.fi\n", out);
    }
}

static void
man_authzctl(FILE *out, struct cli *cli)
{
    fputs(".\\\" Generated from the table of verbs in cli/verbs.c; edit that file instead.\n"
          ".TH AUTHZCTL 8 \"\" \"authz " PACKAGE_VERSION "\" \"System administration\"\n"
          ".SH NAME\nauthzctl \\- administer the authorization server authz\n"
          ".SH SYNOPSIS\n.B authzctl\n.RI [ OPTION ...]\n.I NOUN VERB\n.RI [ ARGUMENT ...]\n"
          ".br\n.B authzctl help\n.RI [ NOUN\n.RI [ VERB ]]\n"
          ".SH DESCRIPTION\n"
          "authzctl works directly on the database of the service, so it also works while the\n"
          "service is stopped.\n"
          "Each verb checks only the settings that it needs.\n"
          "Options may appear anywhere on the command line; everything after\n.B \\-\\-\n"
          "is an argument.\n"
          ".SH OPTIONS\n",
          out);
    man_options(out, cli->mem, cli_options);
    fputs(".SH VERBS\n", out);
    man_verbs(out, cli->mem, cli->verbs);
    man_put_examples(out, cli->mem);
    man_exits(out, cli->mem);
    fputs(".SH ENVIRONMENT\n"
          "authzctl reads the settings of the service, the variables SVC_*.\n"
          ".BR authz.conf (5)\ndescribes each of them.\n"
          "AUTHZ_ADMIN_KEY is the admin key for \\-\\-server.\n"
          "AUTHZ_SERVER is the URL for verbs that take \\-\\-server, unless \\-\\-server or\n"
          "\\-\\-config is given.\n"
          ".SH FILES\n.TP\n.I authz.conf\n"
          "The same settings, one NAME=VALUE per line.\n"
          "Set SVC_CONFIG to use another file; the last lines of\n.B authzctl \\-\\-help\n"
          "name the default.\n"
          ".SH SEE ALSO\n.BR authz.conf (5),\n.BR authz.fcgi (8)\n",
          out);
}

static void
man_conf(FILE *out, struct cli *cli)
{
    fputs(".\\\" Generated from fcgi/base/settings/settings_table.c; edit that file instead.\n"
          ".TH AUTHZ.CONF 5 \"\" \"authz " PACKAGE_VERSION "\" \"File formats\"\n"
          ".SH NAME\nauthz.conf \\- settings of the authorization server authz\n"
          ".SH DESCRIPTION\n"
          "Each line is\n.IR NAME = VALUE ,\nempty, or a comment that begins with #.\n"
          "A value may stand in double or single quotes.\n"
          "An environment variable of the same name takes precedence.\n"
          ".IR NAME _FILE= PATH\nstands for NAME and the one line that the file PATH has, in "
          "authz.conf and in the\n"
          "environment.\n"
          "The file that SVC_CONFIG names is read, else the one that the last lines of\n"
          ".B authzctl \\-\\-help\nname.\n"
          "It contains secrets: only root and the account of the service may read it.\n"
          ".PP\n"
          "The service refuses to start with an unknown name or a wrong value;\n"
          ".B authzctl config check\nnames file, line and remedy.\n"
          "Settings are read when the service starts.\n"
          ".SH SETTINGS\n",
          out);
    for (const struct setting *row = settings_table; row->name != NULL; row++) {
        bool built = row->fallback != NULL && strcmp(row->fallback, AUTHZ_DATADIR) == 0;
        man_entry(out, row->name, talloc_asprintf(cli->mem, "%s.", row->help));
        fputs(".br\n", out);
        man_line(out, talloc_asprintf(
                          cli->mem, "%s.",
                          help_setting(cli->mem, row,
                                       built ? "set when the program is built" : row->fallback)));
    }
    fputs(".SH SEE ALSO\n.BR authzctl (8),\n.BR authz.fcgi (8)\n", out);
}

int
manual_run(struct cli *cli)
{
    static const struct {
        const char *name;
        void (*print)(FILE *out, struct cli *cli);
    } pages[] = {
        {"authzctl",   man_authzctl},
        {"authz.conf", man_conf    },
    };
    const char *name = cli->argc > 0 ? cli->args[0] : pages[0].name;
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
        if (strcmp(pages[i].name, name) == 0) {
            pages[i].print(stdout, cli);
            return CLI_OK;
        }
    output_error("manual: there is no page %s; the pages are authzctl and authz.conf", name);
    return CLI_USAGE;
}
