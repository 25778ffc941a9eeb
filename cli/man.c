/* manual: authzctl(8), the table of verbs as roff with man(7) macros. */
#include "config.h"

#include <string.h>

#include "help.h"
#include "verbs.h"

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

int
manual_run(struct cli *cli)
{
    FILE *out = stdout;
    fputs(".\\\" Generated from the table of verbs in cli/verbs.c; edit that file instead.\n"
          ".TH AUTHZCTL 8 \"\" \"authz " PACKAGE_VERSION "\" \"System administration\"\n"
          ".SH NAME\nauthzctl \\- administer the authorization server authz\n"
          ".SH SYNOPSIS\n.B authzctl\n.RI [ OPTION ...]\n.I NOUN VERB\n.RI [ ARGUMENT ...]\n"
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
    man_exits(out, cli->mem);
    fputs(".SH ENVIRONMENT\n"
          "authzctl reads the settings of the service, the variables SVC_*.\n"
          ".B authzctl config doc\ndescribes each of them.\n"
          ".SH FILES\n.TP\n.I authz.conf\n"
          "The same settings, one NAME=VALUE per line.\n"
          "Set SVC_CONFIG to use another file; the last lines of\n.B authzctl \\-\\-help\n"
          "name the default.\n",
          out);
    return CLI_OK;
}
