/* The command line: words that name a verb, its arguments, and options anywhere among them. */
#include "config.h"

#include <string.h>

#include "cli.h"
#include "nearest.h"
#include "output.h"

bool
cli_below(const char *words, const char *path)
{
    size_t length = strlen(path);
    return length == 0
           || (strncmp(words, path, length) == 0
               && (words[length] == ' ' || words[length] == '\0'));
}

static int
usage_error(const struct cli *cli, const char *why)
{
    const char *path = cli->path;
    output_error("%s%s%s; see `authzctl%s%s --help`", path, *path != '\0' ? ": " : "", why,
                 *path != '\0' ? " " : "", path);
    return CLI_USAGE;
}

/* A word before the verb is complete: goes one level down the table, or names the nearest ones. */
static int
take_word(struct cli *cli, const char *word)
{
    char *path =
        talloc_asprintf(cli->mem, "%s%s%s", cli->path, *cli->path != '\0' ? " " : "", word);
    bool known = false;
    for (const struct cli_verb *row = cli_verbs; row->words != NULL; row++) {
        known = known || cli_below(row->words, path);
        if (strcmp(row->words, path) == 0)
            cli->verb = row;
    }
    if (!known || *word == '\0')
        return usage_error(cli, talloc_asprintf(cli->mem, "there is no `%s`; try %s", word,
                                                nearest_words(cli->mem, cli->path, word)));
    cli->path = path;
    return CLI_OK;
}

static int
take_argument(struct cli *cli, char *word)
{
    if (cli->argc == cli->verb->maximum)
        return usage_error(cli, talloc_asprintf(cli->mem, "one argument too many: %s", word));
    cli->args[cli->argc++] = word;
    return CLI_OK;
}

static const struct cli_option *
find_in(const struct cli_option *options, const char *name, size_t length, char letter)
{
    for (; options != NULL && options->name != NULL; options++)
        if (letter != 0
                ? options->letter == letter
                : strlen(options->name) == length && strncmp(options->name, name, length) == 0)
            return options;
    return NULL;
}

static const struct cli_option *
find_option(const struct cli *cli, const char *name, size_t length, char letter)
{
    const struct cli_option *own = cli->verb != NULL ? cli->verb->options : NULL;
    const struct cli_option *row = find_in(own, name, length, letter);
    return row != NULL ? row : find_in(cli_options, name, length, letter);
}

/* `--name`, `--name=VALUE` or `--name VALUE`; *used counts the words after this one. */
static int
take_long(struct cli *cli, char *word, char *next, int *used)
{
    char *name = word + 2, *equals = strchr(name, '=');
    size_t length = equals != NULL ? (size_t) (equals - name) : strlen(name);
    const struct cli_option *row = find_option(cli, name, length, 0);
    if (row == NULL)
        return usage_error(
            cli, talloc_asprintf(cli->mem, "there is no option --%.*s here", (int) length, name));
    void *at = (char *) &cli->choice + row->offset;
    if (row->argument == NULL) {
        *(bool *) at = true;
        return equals == NULL
                   ? CLI_OK
                   : usage_error(cli, talloc_asprintf(cli->mem, "--%s takes no value", row->name));
    }
    const char *value = equals != NULL ? equals + 1 : next;
    if (value == NULL || *value == '\0')
        return usage_error(cli,
                           talloc_asprintf(cli->mem, "--%s needs %s", row->name, row->argument));
    if (*(const char **) at != NULL)
        return usage_error(cli, talloc_asprintf(cli->mem, "--%s is given twice", row->name));
    *(const char **) at = value;
    *used = equals == NULL;
    return CLI_OK;
}

static int
take_letters(struct cli *cli, const char *word)
{
    for (const char *c = word + 1; *c != '\0'; c++) {
        const struct cli_option *row = find_option(cli, NULL, 0, *c);
        if (row == NULL)
            return usage_error(cli, talloc_asprintf(cli->mem, "there is no option -%c here", *c));
        *(bool *) ((char *) &cli->choice + row->offset) = true;
    }
    return CLI_OK;
}

/* The line is read: is what it names complete? */
static int
check_line(struct cli *cli)
{
    if (cli->choice.help || cli->choice.version)
        return CLI_OK;
    if (cli->verb == NULL)
        return usage_error(cli, talloc_asprintf(cli->mem, "name one of %s",
                                                nearest_words(cli->mem, cli->path, NULL)));
    if (cli->argc < cli->verb->minimum)
        return usage_error(cli, talloc_asprintf(cli->mem, "needs %s", cli->verb->arguments));
    for (const struct cli_option *row = cli->verb->options; row != NULL && row->name != NULL; row++)
        if (row->required && *(char **) (void *) ((char *) &cli->choice + row->offset) == NULL)
            return usage_error(
                cli, talloc_asprintf(cli->mem, "needs --%s %s", row->name, row->argument));
    return CLI_OK;
}

int
cli_parse(struct cli *cli, int argc, char **argv)
{
    bool plain = false; /* after -- nothing is an option */
    int status = CLI_OK;
    cli->path = talloc_strdup(cli->mem, "");
    for (int i = 1; i < argc && status == CLI_OK; i++) {
        int used = 0;
        if (!plain && strcmp(argv[i], "--") == 0)
            plain = true;
        else if (!plain && strncmp(argv[i], "--", 2) == 0)
            status = take_long(cli, argv[i], argv[i + 1], &used);
        else if (!plain && argv[i][0] == '-' && argv[i][1] != '\0')
            status = take_letters(cli, argv[i]);
        else if (cli->verb == NULL)
            status = take_word(cli, argv[i]);
        else
            status = take_argument(cli, argv[i]);
        i += used;
    }
    return status == CLI_OK ? check_line(cli) : status;
}
