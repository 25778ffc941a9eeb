/* authzctl(8): the table of verbs as roff (man(7) macros). */
#include "config.h"

#include <string.h>

#include "help.h"
#include "verbs.h"

/* A text inside a line: backslash and minus have a meaning of their own in roff. */
static void
put_text(FILE *out, const char *text)
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

/* `macro text` on one line, the text in quotes so that it is one argument. */
static void
put_macro(FILE *out, const char *macro, const char *text)
{
    fprintf(out, "%s \"", macro);
    put_text(out, text);
    fputs("\"\n", out);
}

static void
put_line(FILE *out, const char *text)
{
    put_text(out, text);
    putc('\n', out);
}

/* A tagged paragraph. */
static void
put_entry(FILE *out, const char *tag, const char *text)
{
    fputs(".TP\n", out);
    put_macro(out, ".B", tag);
    put_line(out, text);
}

static void
put_options(FILE *out, TALLOC_CTX *mem, const struct cli_option *options)
{
    for (; options != NULL && options->name != NULL; options++)
        put_entry(out,
                  talloc_asprintf(
                      mem, "%s--%s%s%s",
                      options->letter != 0 ? talloc_asprintf(mem, "-%c, ", options->letter) : "",
                      options->name, options->argument != NULL ? " " : "",
                      options->argument != NULL ? options->argument : ""),
                  options->help);
}

static void
put_verb(FILE *out, TALLOC_CTX *mem, const struct cli_verb *verb)
{
    put_entry(out, help_synopsis(mem, verb), talloc_asprintf(mem, "%s.", verb->help));
    if (verb->more != NULL)
        put_line(out, verb->more);
    if (verb->options != NULL) {
        fputs(".RS\n", out);
        put_options(out, mem, verb->options);
        fputs(".RE\n", out);
    }
}

static void
put_verbs(FILE *out, TALLOC_CTX *mem)
{
    const char *noun = "";
    for (const struct cli_verb *row = cli_verbs; row->words != NULL; row++) {
        if (row->hidden)
            continue;
        const char *own = help_noun(mem, row);
        if (strcmp(noun, own) != 0)
            put_macro(out, ".SS", noun = own);
        put_verb(out, mem, row);
    }
}

static void
put_exits(FILE *out, TALLOC_CTX *mem)
{
    fputs(".SH EXIT STATUS\n", out);
    for (const struct cli_exit_row *row = cli_exits; row->meaning != NULL; row++)
        put_entry(out, talloc_asprintf(mem, "%d", row->status),
                  talloc_asprintf(mem, "%s.", row->meaning));
}

void
man_print(FILE *out)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    fputs(".\\\" Made by the program from its table of verbs: change that, not this.\n"
          ".TH AUTHZCTL 8 \"\" \"authz " PACKAGE_VERSION "\" \"System administration\"\n"
          ".SH NAME\nauthzctl \\- administer the authorization server authz\n"
          ".SH SYNOPSIS\n.B authzctl\n.RI [ OPTION ...]\n.I NOUN VERB\n.RI [ ARGUMENT ...]\n"
          ".SH DESCRIPTION\n"
          "Works on the database of the service, also while the service is stopped.\n"
          "A verb asks only for the settings it needs.\n"
          "Options may stand anywhere; after\n.B \\-\\-\nnothing is an option.\n"
          ".SH OPTIONS\n",
          out);
    put_options(out, mem, cli_options);
    fputs(".SH VERBS\n", out);
    put_verbs(out, mem);
    put_exits(out, mem);
    fputs(".SH ENVIRONMENT\n"
          "The settings of the service, SVC_...;\n.B authzctl config doc\ndescribes each.\n"
          ".SH FILES\n.TP\n.I authz.conf\n"
          "The same settings, one NAME=VALUE on a line.\n"
          "SVC_CONFIG names another file; the end of\n.B authzctl \\-\\-help\n"
          "says where it is looked for otherwise.\n",
          out);
    talloc_free(mem);
}

int
manual_run(struct cli *cli)
{
    (void) cli;
    man_print(stdout);
    return CLI_OK;
}
