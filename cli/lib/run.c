/* Prepare a verb: check its settings and the schema of the database. */
#include "config.h"

#include "cli/lib/run.h"

#include <ctype.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/lib/call.h"
#include "cli/lib/cli.h"
#include "cli/lib/output.h"
#include "policy/save/save.h"
#include "process.h"
#include "store/db/db.h"
#include "store/schema/schema.h"

/* Variable with the URL of the service, in place of --server. */
#define SERVER_VARIABLE "AUTHZ_SERVER"

const char *const cli_needs_all[] = {"*", NULL};

const char run_database_url_problem[] =
    "SVC_DATABASE_URL: libpq cannot parse it; use the form postgresql://USER@HOST/DATABASE";

static bool
is_needed(const char *const *needs, const struct setting *row)
{
    for (; *needs != NULL; needs++)
        if (strcmp(*needs, row->name) == 0 || strcmp(*needs, cli_needs_all[0]) == 0)
            return true;
    return false;
}

bool
run_problem_names(const char *line, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = line; (at = strstr(at, name)) != NULL; at += length)
        if (at[length] == ':' && at[length + 1] == ' '
            && (at == line || (at - line >= 2 && at[-2] == ':' && at[-1] == ' ')))
            return true;
    return false;
}

bool
run_problem_counts(const char *line, const char *const *needs)
{
    for (const struct setting *row = settings_table; row->name != NULL; row++)
        if (run_problem_names(line, row->name))
            return is_needed(needs, row);
    return true;
}

static int
run_check_settings(const struct cli *cli)
{
    int status = CLI_OK;
    for (size_t i = 0; i < cli->problems.count; i++)
        if (run_problem_counts(cli->problems.line[i], cli->verb->needs)) {
            output_error("%s", cli->problems.line[i]);
            status = CLI_CONFIG;
        }
    if (db_url_fault(cli->az->cfg->database_url) != NULL) {
        output_error("%s", run_database_url_problem);
        status = CLI_CONFIG;
    }
    return status;
}

static const struct cli_option *
run_option(const struct cli_option *row, size_t offset)
{
    while (row != NULL && row->name != NULL && row->offset != offset)
        row++;
    return row != NULL && row->name != NULL ? row : NULL;
}

const char *
run_ends(const struct cli_verb *verb, const struct cli_choices *choice)
{
    static const size_t with[] = {offsetof(struct cli_choices, prune),
                                  offsetof(struct cli_choices, replace)};
    if (run_option(verb->options, offsetof(struct cli_choices, yes)) == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
        const struct cli_option *row = run_option(verb->options, with[i]);
        if (row != NULL)
            return *((const bool *) (const void *) ((const char *) choice + with[i])) ? row->help
                                                                                      : NULL;
    }
    return verb->help;
}

/* Ask before a verb that cannot be undone. Without a terminal there is nobody to ask, such as in a
 * script whose author did not know what the verb ends: --yes says that the author does. */
static int
run_confirm(const struct cli *cli)
{
    char answer[8];
    const char *what = run_ends(cli->verb, &cli->choice);
    const char *gap = cli->argc > 0 ? " " : "", *about = cli->argc > 0 ? cli->args[0] : "";
    if (what == NULL || cli->choice.yes)
        return CLI_OK;
    if (!isatty(STDIN_FILENO)) {
        output_error("%s%s%s: nothing was changed; the command would %c%s, which cannot be undone, "
                     "and there is no terminal to ask on: add --yes",
                     cli->path, gap, about, tolower((unsigned char) *what), what + 1);
        return CLI_NOTABLE;
    }
    output_error("%s%s%s: this cannot be undone: %s", cli->path, gap, about, what);
    fputs("Continue? [y/N] ", stderr);
    if (fgets(answer, sizeof(answer), stdin) != NULL && strncasecmp(answer, "y", 1) == 0)
        return CLI_OK;
    output_error("%s: stopped; nothing was changed", cli->path);
    return CLI_FAILED;
}

static int
run_check_message(const struct cli *cli)
{
    const char *message = cli->choice.note;
    const char *why = message != NULL ? save_message_fault(message) : NULL;
    if (why == NULL)
        return CLI_OK;
    output_error("%s: --message %s; give one short line", cli->path, why);
    return CLI_USAGE;
}

/* Print what the verb waits for; the same text once. */
static void
run_tell(void *arg, const char *what)
{
    struct cli *cli = arg;
    if (cli->told != NULL && strcmp(cli->told, what) == 0)
        return;
    talloc_free(cli->told);
    cli->told = talloc_strdup(cli->mem, what);
    output_error("%s: %s", cli->path, what);
}

static void
run_watch(struct cli *cli)
{
    cli->watch = (struct op_watch){.tell = run_tell, .arg = cli};
    if (isatty(STDERR_FILENO) && !cli->choice.quiet)
        cli->op.watch = &cli->watch;
}

/* Return the account of the service: the owner of authz.conf, or, if that is root, the account that
 * is named like its group. 0 if there is none. */
static uid_t
run_service_account(const char *file)
{
    struct stat about;
    if (file == NULL || stat(file, &about) != 0)
        return 0;
    const struct group *group = about.st_uid == 0 ? getgrgid(about.st_gid) : NULL;
    const struct passwd *account = group != NULL ? getpwnam(group->gr_name) : NULL;
    return account != NULL ? account->pw_uid : about.st_uid;
}

void
run_as_service(struct az *az)
{
    db_connect_as(az->db, run_service_account(az->cfg->source_file));
}

/* Take the service of AUTHZ_SERVER for a verb that can use one, unless an option names a service or
 * a file of settings. A verb of files uses none. */
static void
run_choose_place(struct cli *cli)
{
    const char *server = getenv(SERVER_VARIABLE);
    if (cli->verb->place == CLI_FILES)
        cli->choice.server = cli->choice.key_file = NULL;
    else if (cli->verb->place == CLI_ANYWHERE && cli->choice.server == NULL
             && cli->choice.config == NULL && server != NULL && *server != '\0')
        cli->choice.server = server;
}

/* Run the verb over the admin API: without settings, database or engine. */
static int
run_remote(struct cli *cli)
{
    if (cli->verb->place != CLI_ANYWHERE) {
        output_error("%s: works on %s alone; omit --server and --key-file", cli->path,
                     cli->verb->place == CLI_HOST ? "this host" : "the database");
        return CLI_USAGE;
    }
    if (cli->choice.server == NULL) {
        output_error("%s: --key-file is for --server; give both or none", cli->path);
        return CLI_USAGE;
    }
    int status = call_prepare(cli);
    if (status != CLI_OK)
        return status;
    cli->op.mem = cli->mem;
    run_watch(cli);
    status = cli->verb->run(cli);
    explicit_bzero((void *) (uintptr_t) cli->key, strlen(cli->key));
    return status;
}

int
cli_run(struct cli *cli)
{
    if (run_check_message(cli) != CLI_OK)
        return CLI_USAGE;
    int status = run_confirm(cli);
    if (status != CLI_OK)
        return status;
    run_choose_place(cli);
    if (cli->choice.server != NULL || cli->choice.key_file != NULL)
        return run_remote(cli);
    if (cli->verb->needs == NULL)
        return cli->verb->run(cli);
    cli->az = process_new(cli->mem, false, &cli->problems);
    if (cli->az == NULL) {
        output_error("%s: out of memory", cli->path);
        return CLI_FAILED;
    }
    if ((status = run_check_settings(cli)) != CLI_OK)
        return status;
    log_level_set("error"); /* the tool prints its own messages */
    if (!db_enter_session(cli->az, true)) {
        output_error("%s: out of memory", cli->path);
        return CLI_FAILED;
    }
    run_as_service(cli->az);
    cli->op = process_op(cli->mem, cli->az);
    run_watch(cli);
    enum az_status st = cli->verb->place > CLI_HOST ? schema_check(&cli->op) : AZ_OK;
    if (st == AZ_OK)
        return cli->verb->run(cli);
    status = output_fault(cli);
    return st == AZ_UNAVAILABLE ? status : CLI_CONFIG;
}
