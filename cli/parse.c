/* The command line: the words of a verb, its arguments, and options anywhere among them. */
#include "config.h"

#include <string.h>

#include "base/nearest.h"
#include "cli/lib/cli.h"
#include "cli/lib/output.h"

/* Most verbs and nouns after one path. */
#define WORDS_MAX 32

#define AT(member) offsetof(struct cli_choices, member)

/* clang-format off */
const struct cli_option cli_options[] = {
    {"config", 0, "FILE", AT(config), false,
     "Read settings from FILE instead of SVC_CONFIG; environment variables still take precedence"},
    {"help", 'h', NULL, AT(help), false, "Print help for the noun or verb that precedes it"},
    {"json", 0, NULL, AT(json), false, "Print one JSON document instead of text"},
    {"key-file", 0, "FILE", AT(key_file), false,
     "With --server, read the admin key from FILE instead of AUTHZ_ADMIN_KEY"},
    {"quiet", 'q', NULL, AT(quiet), false, "Print results and errors, but no progress messages"},
    {"server", 0, "URL", AT(server), false,
     "Use the admin API of the service at URL (or in AUTHZ_SERVER) instead of the database, with "
     "the admin key in AUTHZ_ADMIN_KEY"},
    {"version", 0, NULL, AT(version), false, "Print the version"},
    {NULL, 0, NULL, 0, false, NULL},
};
/* clang-format on */

bool
cli_below(const char *words, const char *path)
{
    size_t length = strlen(path);
    return length == 0
           || (strncmp(words, path, length) == 0
               && (words[length] == ' ' || words[length] == '\0'));
}

const char *const *
cli_words_below(TALLOC_CTX *mem, const struct cli_verb *verbs, const char *path)
{
    const char **words = talloc_zero_array(mem, const char *, WORDS_MAX + 1);
    size_t count = 0, skip = strlen(path) + (*path != '\0');
    for (const struct cli_verb *row = verbs; words != NULL && row->words != NULL; row++) {
        if (row->hidden || !cli_below(row->words, path) || strlen(row->words) <= skip)
            continue;
        const char *next = row->words + skip;
        const char *word = talloc_strndup(words, next, strcspn(next, " "));
        bool known = count > 0 && strcmp(words[count - 1], word) == 0;
        if (!known && count < WORDS_MAX)
            words[count++] = word;
    }
    return words;
}

static int
usage_error(const struct cli *cli, const char *why)
{
    const char *path = cli->path;
    bool question = why != NULL && *why != '\0' && why[strlen(why) - 1] == '?';
    output_error("%s%s%s%s `authzctl%s%s --help`", path, *path != '\0' ? ": " : "", why,
                 question ? " See" : "; see", *path != '\0' ? " " : "", path);
    return CLI_USAGE;
}

/* Return the words joined by ", ". */
static const char *
join_words(TALLOC_CTX *mem, const char *const *words)
{
    char *list = talloc_strdup(mem, "");
    for (const char *between = ""; *words != NULL; words++, between = ", ")
        list = talloc_asprintf_append_buffer(list, "%s%s", between, *words);
    return list;
}

static int
refuse_word(const struct cli *cli, const char *word)
{
    const char *const *words = cli_words_below(cli->mem, cli->verbs, cli->path);
    const char *nearest = nearest_words(cli->mem, words, word);
    return usage_error(
        cli,
        nearest != NULL
            ? talloc_asprintf(cli->mem, "unknown command '%s'; did you mean %s?", word, nearest)
            : talloc_asprintf(cli->mem, "unknown command '%s'; expected one of: %s", word,
                              join_words(cli->mem, words)));
}

/* Take a word that stands before the verb is complete: go one level down the table, or refuse it.
 */
static int
take_word(struct cli *cli, const char *word)
{
    char *path =
        talloc_asprintf(cli->mem, "%s%s%s", cli->path, *cli->path != '\0' ? " " : "", word);
    bool known = false;
    for (const struct cli_verb *row = cli->verbs; row->words != NULL; row++) {
        known = known || cli_below(row->words, path);
        if (strcmp(row->words, path) == 0)
            cli->verb = row;
    }
    if (!known || *word == '\0')
        return refuse_word(cli, word);
    cli->path = path;
    return CLI_OK;
}

static int
take_argument(struct cli *cli, char *word)
{
    if (cli->argc == cli->verb->maximum)
        return usage_error(cli, talloc_asprintf(cli->mem, "unexpected argument '%s'", word));
    cli->args[cli->argc++] = word;
    return CLI_OK;
}

static const struct cli_option *
find_in(const struct cli_option *options, const char *name, size_t length, char letter)
{
    for (; options != NULL && options->name != NULL; options++)
        if (letter != 0 ? options->letter == letter
                        : name != NULL && strlen(options->name) == length
                              && strncmp(options->name, name, length) == 0)
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

/* True if the option may be given several times: its argument ends in "...". */
static bool
option_repeats(const struct cli_option *row)
{
    size_t length = strlen(row->argument);
    return length > 3 && strcmp(row->argument + length - 3, "...") == 0;
}

static int
take_value(struct cli *cli, const struct cli_option *row, const char *value)
{
    const char **at = (const char **) (void *) ((char *) &cli->choice + row->offset);
    if (value == NULL || *value == '\0')
        return usage_error(
            cli, talloc_asprintf(cli->mem, "--%s requires a value: %s", row->name, row->argument));
    if (*at != NULL && option_repeats(row)) {
        *at = talloc_asprintf(cli->mem, "%s %s", *at, value);
        return CLI_OK;
    }
    if (*at != NULL)
        return usage_error(cli, talloc_asprintf(cli->mem, "--%s was given twice", row->name));
    *at = value;
    return CLI_OK;
}

/* Take `--name`, `--name=VALUE` or `--name VALUE`; *used is the number of further words taken. */
static int
take_long(struct cli *cli, char *word, char *next, int *used)
{
    char *name = word + 2, *equals = strchr(name, '=');
    size_t length = equals != NULL ? (size_t) (equals - name) : strlen(name);
    const struct cli_option *row = find_option(cli, name, length, 0);
    if (row == NULL)
        return usage_error(cli,
                           talloc_asprintf(cli->mem, "unknown option --%.*s", (int) length, name));
    if (row->argument == NULL) {
        *(bool *) ((char *) &cli->choice + row->offset) = true;
        return equals == NULL
                   ? CLI_OK
                   : usage_error(cli, talloc_asprintf(cli->mem, "--%s takes no value", row->name));
    }
    *used = equals == NULL;
    return take_value(cli, row, equals != NULL ? equals + 1 : next);
}

/* Take `-ab`, `-m VALUE` or `-mVALUE`; *used as above. */
static int
take_letters(struct cli *cli, const char *word, const char *next, int *used)
{
    for (const char *c = word + 1; *c != '\0'; c++) {
        const struct cli_option *row = find_option(cli, NULL, 0, *c);
        if (row == NULL)
            return usage_error(cli, talloc_asprintf(cli->mem, "unknown option -%c", *c));
        if (row->argument != NULL) {
            *used = c[1] == '\0';
            return take_value(cli, row, c[1] != '\0' ? c + 1 : next);
        }
        *(bool *) ((char *) &cli->choice + row->offset) = true;
    }
    return CLI_OK;
}

/* Check that the parsed line is complete. */
static int
check_line(struct cli *cli)
{
    if (cli->choice.help || cli->choice.version)
        return CLI_OK;
    if (cli->verb == NULL)
        return usage_error(
            cli, talloc_asprintf(
                     cli->mem, "missing command; expected one of: %s",
                     join_words(cli->mem, cli_words_below(cli->mem, cli->verbs, cli->path))));
    if (cli->argc < cli->verb->minimum)
        return usage_error(cli,
                           talloc_asprintf(cli->mem, "missing argument: %s", cli->verb->arguments));
    for (const struct cli_option *row = cli->verb->options; row != NULL && row->name != NULL; row++)
        if (row->required && *(char **) (void *) ((char *) &cli->choice + row->offset) == NULL)
            return usage_error(cli, talloc_asprintf(cli->mem, "missing option: --%s %s", row->name,
                                                    row->argument));
    return CLI_OK;
}

int
cli_parse(struct cli *cli, int argc, char **argv)
{
    bool plain = false; /* after -- nothing is an option */
    int status = CLI_OK;
    cli->path = talloc_strdup(cli->mem, "");
    cli->choice.help = argc > 1 && strcmp(argv[1], "help") == 0; /* `help db` is `db --help` */
    for (int i = cli->choice.help ? 2 : 1; i < argc && status == CLI_OK; i++) {
        int used = 0;
        if (!plain && strcmp(argv[i], "--") == 0)
            plain = true;
        else if (!plain && strncmp(argv[i], "--", 2) == 0)
            status = take_long(cli, argv[i], argv[i + 1], &used);
        else if (!plain && argv[i][0] == '-' && argv[i][1] != '\0')
            status = take_letters(cli, argv[i], argv[i + 1], &used);
        else if (cli->verb == NULL)
            status = take_word(cli, argv[i]);
        else
            status = take_argument(cli, argv[i]);
        i += used;
    }
    return status == CLI_OK ? check_line(cli) : status;
}
