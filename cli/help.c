#include "config.h"

#include "help.h"

#include <string.h>

/* Lines end here, so that they fit a terminal of 80 columns. */
#define LINE_WIDTH 78
/* Help lines of verbs and options begin here. */
#define TEXT_COLUMN 24

/* Prints words from `column` on; each further line begins at `indent`. */
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

/* `  name   text`; a name too long for its column stands on a line of its own. */
static void
put_entry(FILE *out, const char *name, const char *text)
{
    int used = fprintf(out, "  %s", name);
    if (used + 2 > TEXT_COLUMN) {
        putc('\n', out);
        used = 0;
    }
    fprintf(out, "%*s", TEXT_COLUMN - used, "");
    put_wrapped(out, text, TEXT_COLUMN, TEXT_COLUMN);
}

static void
put_options(FILE *out, TALLOC_CTX *mem, const char *title, const struct cli_option *options)
{
    if (options == NULL)
        return;
    fprintf(out, "\n%s:\n", title);
    for (; options->name != NULL; options++) {
        char letter[] = {'-', options->letter, ',', ' ', '\0'};
        put_entry(out,
                  talloc_asprintf(mem, "%s--%s%s%s", options->letter != 0 ? letter : "",
                                  options->name, options->argument != NULL ? " " : "",
                                  options->argument != NULL ? options->argument : ""),
                  options->help);
    }
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

char *
help_noun(TALLOC_CTX *mem, const struct cli_verb *verb)
{
    const char *last = strrchr(verb->words, ' ');
    return talloc_strndup(mem, verb->words,
                          last != NULL ? (size_t) (last - verb->words) : strlen(verb->words));
}

static void
put_verbs(FILE *out, TALLOC_CTX *mem, const char *path)
{
    for (const struct cli_verb *row = cli_verbs; row->words != NULL; row++)
        if (!row->hidden && cli_below(row->words, path))
            put_entry(out,
                      talloc_asprintf(mem, "%s%s%s", row->words, *row->arguments ? " " : "",
                                      row->arguments),
                      row->help);
}

static void
put_verb(FILE *out, TALLOC_CTX *mem, const struct cli_verb *verb)
{
    fprintf(out, "usage: authzctl [OPTION...] %s\n\n", help_synopsis(mem, verb));
    put_wrapped(out, talloc_asprintf(mem, "%s.", verb->help), 0, 0);
    if (verb->more != NULL)
        put_wrapped(out, verb->more, 0, 0);
    put_options(out, mem, "Options of this verb", verb->options);
}

static void
put_exits(FILE *out, TALLOC_CTX *mem)
{
    fputs("\nExit status:\n", out);
    for (const struct cli_exit_row *row = cli_exits; row->meaning != NULL; row++)
        put_entry(out, talloc_asprintf(mem, "%d", row->status), row->meaning);
}

void
help_print(FILE *out, const char *path)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const struct cli_verb *verb = NULL;
    for (const struct cli_verb *row = cli_verbs; row->words != NULL; row++)
        if (strcmp(row->words, path) == 0)
            verb = row;
    if (verb != NULL) {
        put_verb(out, mem, verb);
    } else {
        fprintf(out, "usage: authzctl [OPTION...] %s%sVERB [ARGUMENT...]\n\n", path,
                *path != '\0' ? " " : "NOUN ");
        put_verbs(out, mem, path);
    }
    put_options(out, mem, "Options", cli_options);
    if (*path == '\0') {
        put_exits(out, mem);
        fputs(
            "\nSettings come from SVC_ variables or the file SVC_CONFIG names (default\n" AUTHZ_CONF
            ");\n`authzctl config doc` describes them.\n",
            out);
    }
    talloc_free(mem);
}
