/* bundle pull: write the administrator's rules and data rows as files, for example to keep them in
 * git. */
#include "config.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/json/jsonx.h"
#include "cli/lib/dir.h"
#include "cli/lib/json_text.h"
#include "cli/lib/output.h"
#include "cli/policy/bundle_dir.h"
#include "cli/policy/bundle_example.h"
#include "cli/policy/bundle_stored.h"
#include "cli/verbs.h"
#include "policy/rows/data_key.h"
#include "policy/rows/rule.h"

const struct cli_option bundle_pull_options[] = {
    {"force", 0, NULL, offsetof(struct cli_choices, force), false,
     "Accept a directory that contains other files, and leave them there"},
    {NULL,       0,     NULL,  0,                     false,                         NULL    },
};

/* A file to write. */
struct file {
    const char *path, *text;
    size_t length;
};

/* One pull. */
struct pull {
    struct cli *cli;
    const char *dir;
    struct dir_held held; /* the directory, from the check on */
    struct bundle_stored stored;
    struct file *file;
    size_t files, outside;
    json_t *index; /* path to index in file */
    bool full;     /* the directory had files before */
    bool refused;  /* an error was printed */
};

/* ---- files to write ---- */

static void
pull_refuse(struct pull *pull, const char *path, const char *why)
{
    output_error("%s: %s: %s", pull->cli->path, path, why);
    pull->refused = true;
}

static void
add_file(struct pull *pull, const char *path, const char *text)
{
    if (path == NULL || text == NULL
        || json_object_set_new(pull->index, path, json_integer((json_int_t) pull->files)) != 0) {
        pull_refuse(pull, path != NULL ? path : "a file", "out of memory");
        return;
    }
    pull->file[pull->files++] = (struct file){path, text, strlen(text)};
}

/* Refuse names that no file can have, and files whose name is the directory of another file. This
 * comes before the first write, because half a policy could be deployed as the whole. */
static void
check_name(struct pull *pull, const char *path)
{
    const char *segment = path;
    for (const char *slash; (slash = strchr(segment, '/')) != NULL; segment = slash + 1) {
        char *above = talloc_strndup(pull->cli->mem, path, (size_t) (slash - path));
        if (above == NULL || json_object_get(pull->index, above) != NULL)
            pull_refuse(
                pull, path,
                "the name of another rule or row is the directory of this one; save this one "
                "under another name, then delete it");
        if ((size_t) (slash - segment) > NAME_MAX)
            break;
    }
    if (strcspn(segment, "/") > NAME_MAX)
        pull_refuse(
            pull, path,
            "a file name has at most 255 octets; save it under a shorter name, then delete this "
            "one");
}

/* Add a rule of the administrator. Paths come from the database: refuse one that bundle deploy
 * would not read back, and one like .git/hooks/x.rego. */
static void
pull_add_rule(struct pull *pull, const json_t *rule, struct jsonx_build *disabled)
{
    const char *path = json_string_value(json_object_get(rule, "path")),
               *content = json_string_value(json_object_get(rule, "content"));
    const char *why = path != NULL && content != NULL ? rule_path_fault(path) : "is missing";
    if (why != NULL)
        pull_refuse(pull, path != NULL ? path : "a rule",
                    talloc_asprintf(pull->cli->mem,
                                    "the path of a rule %s; rename the rule in the database", why));
    else if (rule_path_is_ours(path))
        return;
    else if (bundle_file_hidden(path) || bundle_file_kind(path) != BUNDLE_FILE_RULE)
        pull_refuse(pull, path,
                    "bundle deploy would skip a file of this name; save the rule under another "
                    "path, then delete this one");
    else {
        add_file(pull, path, content);
        if (json_is_false(json_object_get(rule, "enabled")))
            jsonx_append(disabled, json_incref(json_object_get(rule, "path")));
    }
}

/* Return the payload indented, or as it is if the indented text is too long to be read back. */
static const char *
payload_text(TALLOC_CTX *mem, const char *payload)
{
    const char *text = json_text_pretty(mem, payload, BUNDLE_DIR_FILE_MAX);
    return text != NULL ? text : talloc_asprintf(mem, "%s\n", payload);
}

static void
add_row(struct pull *pull, const json_t *row)
{
    TALLOC_CTX *mem = pull->cli->mem;
    const char *key = json_string_value(json_object_get(row, "dataKey")),
               *payload = json_string_value(json_object_get(row, "payload"));
    const char *why = payload != NULL ? policy_data_key_fault(key) : "is missing";
    if (why != NULL)
        pull_refuse(pull, key != NULL ? key : "a row",
                    talloc_asprintf(mem, "the data key %s; rename the row in the database", why));
    else if (json_is_false(json_object_get(row, "inBundle")))
        pull->outside++;
    else
        add_file(pull, bundle_file_of_key(mem, key), payload_text(mem, payload));
}

static int
make_files(struct pull *pull)
{
    TALLOC_CTX *mem = pull->cli->mem;
    struct jsonx_build disabled = {jsonx_own(mem, json_array()), false};
    json_t *item;
    size_t i, most = json_array_size(pull->stored.rules) + json_array_size(pull->stored.rows) + 1
                     + BUNDLE_EXAMPLE_FILES;
    pull->file = talloc_array(mem, struct file, most);
    pull->index = jsonx_own(mem, json_object());
    if (pull->file == NULL || pull->index == NULL)
        return output_no_memory(pull->cli);
    json_array_foreach (pull->stored.rules, i, item)
        pull_add_rule(pull, item, &disabled);
    json_array_foreach (pull->stored.rows, i, item)
        add_row(pull, item);
    if (disabled.lost || json_array_size(disabled.value) > 0) {
        json_t *switches = jsonx_own(mem, json_pack("{s:O}", "disabled", jsonx_built(&disabled)));
        const char *text = switches != NULL ? jsonx_dump(mem, switches) : NULL;
        add_file(pull, BUNDLE_DIR_SWITCHES,
                 text != NULL ? json_text_pretty(mem, text, BUNDLE_DIR_FILE_MAX) : NULL);
    }
    for (i = 0; i < pull->files; i++)
        check_name(pull, pull->file[i].path);
    return pull->refused ? CLI_FAILED : CLI_OK;
}

/* ---- the directory ---- */

/* Refuse or report a file that is not part of the policy. */
static void
judge_stranger(struct pull *pull, const struct dir_entry *entry)
{
    enum bundle_file kind = bundle_file_kind(entry->path);
    if (kind == BUNDLE_FILE_README || kind == BUNDLE_FILE_TEST)
        return;
    if (!pull->cli->choice.force)
        pull_refuse(
            pull, talloc_asprintf(pull->cli->mem, "%s/%s", pull->dir, entry->path),
            "is not part of the policy; name an empty directory, or use --force to keep it");
    else if (kind != BUNDLE_FILE_OTHER)
        output_line(pull->cli, "kept: %s, which is not part of the policy but would be deployed",
                    entry->path);
}

static void
judge_entry(void *arg, const struct dir_entry *entry)
{
    struct pull *pull = arg;
    if (json_object_get(pull->index, entry->path) == NULL)
        judge_stranger(pull, entry);
    else if (!entry->regular)
        pull_refuse(pull, talloc_asprintf(pull->cli->mem, "%s/%s", pull->dir, entry->path),
                    "is a symbolic link or not a regular file; remove it");
}

static void
pull_hear(void *arg, const char *path, const char *why)
{
    struct pull *pull = arg;
    pull_refuse(
        pull, talloc_asprintf(pull->cli->mem, "%s%s%s", pull->dir, *path != '\0' ? "/" : "", path),
        talloc_asprintf(pull->cli->mem, "%s; name a directory that is readable and writable", why));
}

/* Open the directory and lock it: two runs at once would leave a mixture of two policies. */
static int
open_directory(struct pull *pull)
{
    const char *why = NULL;
    enum dir_holding holding = dir_hold(pull->dir, &pull->held, &why);
    if (holding == DIR_NOT_HELD)
        pull_hear(pull, "", why);
    else if (holding == DIR_BUSY)
        pull_refuse(pull, pull->dir, "another bundle pull is writing to it; wait for it to finish");
    return pull->refused ? CLI_FAILED : CLI_OK;
}

static int
check_directory(struct pull *pull)
{
    struct dir_walk walk = {.mem = pull->cli->mem,
                            .dir = pull->dir,
                            .take = judge_entry,
                            .fault = pull_hear,
                            .arg = pull};
    dir_walk(&walk);
    pull->full = walk.seen > 0;
    return pull->refused ? CLI_FAILED : CLI_OK;
}

/* Give an author who begins a rule and a test to look at. They come only into an empty directory,
 * so that who deleted them does not get them again with each pull. */
static int
add_example(struct pull *pull)
{
    size_t policy = pull->files;
    for (size_t i = 0; !pull->full && i < BUNDLE_EXAMPLE_FILES; i++)
        add_file(pull, bundle_example[i].path, bundle_example[i].text);
    for (size_t i = policy; i < pull->files; i++)
        check_name(pull, pull->file[i].path);
    return pull->refused ? CLI_FAILED : CLI_OK;
}

static int
write_files(struct pull *pull)
{
    size_t written = 0;
    const char *why = NULL;
    for (size_t i = 0; i < pull->files; i++) {
        const struct file *file = &pull->file[i];
        switch (dir_write(pull->cli->mem, pull->held.root, file->path, file->text, file->length,
                          &why)) {
        case DIR_WRITTEN:
            written++;
            output_line(pull->cli, "written: %s", file->path);
            break;
        case DIR_UNCHANGED:
            break;
        case DIR_FAILED:
            pull_hear(pull, file->path, why);
        }
    }
    if (pull->refused)
        output_error("%s: %s: some files were not written; do not deploy this directory",
                     pull->cli->path, pull->dir);
    if (pull->cli->choice.json)
        output_json(jsonx_own(pull->cli->mem,
                              json_pack("{s:i,s:i,s:i,s:s}", "files", (int) pull->files, "written",
                                        (int) written, "rowsOutsideBundle", (int) pull->outside,
                                        "revision", pull->stored.revision)));
    if (!pull->full)
        output_line(pull->cli, "%s is an example, which is not deployed; it says how to use it",
                    bundle_example[0].path);
    output_line(pull->cli, "%zu files, %zu written, revision %s", pull->files, written,
                pull->stored.revision);
    if (pull->outside > 0)
        output_line(
            pull->cli,
            "data rows outside the bundle, not written: %zu; `bundle deploy --mode replace` "
            "would delete them",
            pull->outside);
    return pull->refused ? CLI_FAILED : CLI_OK;
}

int
bundle_pull_run(struct cli *cli)
{
    struct pull pull = {.cli = cli, .dir = cli->args[0], .held = DIR_HELD_NONE};
    int status = bundle_stored_read(cli, &pull.stored);
    if (status == CLI_OK)
        status = make_files(&pull);
    if (status == CLI_OK)
        status = open_directory(&pull);
    if (status == CLI_OK)
        status = check_directory(&pull);
    if (status == CLI_OK)
        status = add_example(&pull);
    if (status == CLI_OK)
        status = write_files(&pull);
    dir_release(&pull.held);
    return status;
}
