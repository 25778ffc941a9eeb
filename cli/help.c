#include "config.h"

#include "cli/help.h"

#include <string.h>

/* Longest line, so that help fits a terminal of 80 columns. */
#define LINE_WIDTH 78
/* Column where the texts of verbs and options begin. */
#define TEXT_COLUMN 24

const struct help_exit help_exits[] = {
    {CLI_OK,          "Success"                                                                     },
    {CLI_FAILED,      "The request was refused or failed"                                           },
    {CLI_NOTABLE,
     "The command found what it looks for, such as a difference or a limit passed, or needs --yes"  },
    {CLI_USAGE,       "The command line is wrong"                                                   },
    {CLI_UNAVAILABLE,
     "The database, the service or the policy engine cannot be reached; try again"                  },
    {CLI_CONFIG,      "A setting is wrong, or the database does not have the schema of this program"},
    {CLI_OK,          NULL                                                                          },
};

/* Print a text from `column` on, wrapped; further lines begin at column `indent`. */
static void
put_wrapped(FILE *out, const char *text, size_t column, size_t indent)
{
    bool first = true;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (!first && column + 1 + length > LINE_WIDTH) {
            fprintf(out, "\n%*s", (int) indent, "");
            column = indent;
        } else if (!first) {
            putc(' ', out);
            column++;
        }
        fwrite(text, 1, length, out);
        column += length;
        text += length;
        text += strspn(text, " ");
        first = false;
    }
    putc('\n', out);
}

/* Print `  name   text`; a name too long for its column gets a line of its own. */
static void
help_entry(FILE *out, const char *name, const char *text)
{
    int used = fprintf(out, "  %s", name);
    if (used + 2 > TEXT_COLUMN) {
        putc('\n', out);
        used = 0;
    }
    fprintf(out, "%*s", TEXT_COLUMN - used, "");
    put_wrapped(out, text, TEXT_COLUMN, TEXT_COLUMN);
}

char *
help_option(TALLOC_CTX *mem, const struct cli_option *option)
{
    char letter[] = {'-', option->letter, ',', ' ', '\0'};
    return talloc_asprintf(mem, "%s--%s%s%s", option->letter != 0 ? letter : "", option->name,
                           option->argument != NULL ? " " : "",
                           option->argument != NULL ? option->argument : "");
}

static void
help_options(FILE *out, TALLOC_CTX *mem, const char *title, const struct cli_option *options)
{
    if (options == NULL)
        return;
    fprintf(out, "\n%s:\n", title);
    for (; options->name != NULL; options++)
        help_entry(out, help_option(mem, options), options->help);
}

char *
help_synopsis(TALLOC_CTX *mem, const struct cli_verb *verb)
{
    char *text = talloc_strdup(mem, verb->words);
    for (const struct cli_option *row = verb->options; row != NULL && row->name != NULL; row++)
        text = talloc_asprintf_append_buffer(text, " %s--%s%s%s%s", row->required ? "" : "[",
                                             row->name, row->argument != NULL ? " " : "",
                                             row->argument != NULL ? row->argument : "",
                                             row->required ? "" : "]");
    if (*verb->arguments != '\0')
        text = talloc_asprintf_append_buffer(text, " %s", verb->arguments);
    return text;
}

/* Return the choices of a setting, its limits or nothing. */
static char *
setting_limits(TALLOC_CTX *mem, const struct setting *row)
{
    char *text = talloc_strdup(mem, "");
    if (row->choices != NULL)
        for (const char *const *word = row->choices; *word != NULL; word++)
            text = talloc_asprintf_append_buffer(text, "%s %s", word == row->choices ? ":" : ",",
                                                 *word);
    if (help_setting_has_limits(row))
        text = talloc_asprintf_append_buffer(text, " from %ld to %ld%s", row->minimum, row->maximum,
                                             settings_units(row));
    return text;
}

bool
help_setting_has_limits(const struct setting *row)
{
    return setting_is_number(row);
}

const char *const help_setting_types[] = {
    [SETTING_TEXT] = "text",     [SETTING_SECRET] = "secret",     [SETTING_BOOL] = "boolean",
    [SETTING_NUMBER] = "number", [SETTING_DURATION] = "duration", [SETTING_ISSUER] = "issuer URL",
    [SETTING_CHOICE] = "choice", [SETTING_LIST] = "list",         [SETTING_SIZE] = "size",
};

char *
help_setting(TALLOC_CTX *mem, const struct setting *row, const char *fallback)
{
    return talloc_asprintf(mem, "%s%s; %s%s%s%s", help_setting_types[row->type],
                           setting_limits(mem, row), fallback != NULL ? "default " : "no default",
                           fallback != NULL ? fallback : "", row->alias != NULL ? "; alias " : "",
                           row->alias != NULL ? row->alias : "");
}

char *
help_noun(TALLOC_CTX *mem, const struct cli_verb *verb)
{
    const char *last = strrchr(verb->words, ' ');
    return talloc_strndup(mem, verb->words,
                          last != NULL ? (size_t) (last - verb->words) : strlen(verb->words));
}

static void
help_verbs(FILE *out, TALLOC_CTX *mem, const struct cli *cli)
{
    for (const struct cli_verb *row = cli->verbs; row->words != NULL; row++)
        if (!row->hidden && cli_below(row->words, cli->path))
            help_entry(out,
                       talloc_asprintf(mem, "%s%s%s", row->words, *row->arguments ? " " : "",
                                       row->arguments),
                       row->help);
}

const char *
help_place(const struct cli_verb *verb)
{
    static const char *const places[] = {
        [CLI_FILES] = NULL,
        [CLI_HOST] = "It works on this host alone, and refuses --server.",
        [CLI_DATABASE] = "It works on the database alone, and refuses --server.",
        [CLI_ANYWHERE] = NULL,
    };
    return places[verb->place];
}

static void
help_verb(FILE *out, TALLOC_CTX *mem, const struct cli_verb *verb)
{
    fprintf(out, "usage: authzctl [OPTION...] %s\n\n", help_synopsis(mem, verb));
    put_wrapped(out, talloc_asprintf(mem, "%s.", verb->help), 0, 0);
    if (verb->more != NULL)
        put_wrapped(out, verb->more, 0, 0);
    if (help_place(verb) != NULL)
        put_wrapped(out, help_place(verb), 0, 0);
    help_options(out, mem, "Options of this verb", verb->options);
}

static void
help_end(FILE *out, TALLOC_CTX *mem)
{
    fputs("\nExit status:\n", out);
    for (const struct help_exit *row = help_exits; row->meaning != NULL; row++)
        help_entry(out, talloc_asprintf(mem, "%d", row->status), row->meaning);
    /* The path has a line of its own: its length depends on the installation. */
    fputs("\nSettings come from SVC_ environment variables and from a configuration file:\n"
          "the one that SVC_CONFIG names, or\n" AUTHZ_CONF
          "\nRun `authzctl config doc` for a description of each setting.\n",
          out);
}

void
help_print(FILE *out, const struct cli *cli)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    if (cli->verb != NULL) {
        help_verb(out, mem, cli->verb);
    } else {
        fprintf(out, "usage: authzctl [OPTION...] %s%sVERB [ARGUMENT...]\n\n", cli->path,
                *cli->path != '\0' ? " " : "NOUN ");
        help_verbs(out, mem, cli);
    }
    help_options(out, mem, "Options", cli_options);
    if (*cli->path == '\0')
        help_end(out, mem);
    talloc_free(mem);
}
