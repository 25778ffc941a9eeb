/* export: write the objects of the service as files. */
#include "config.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json/jsonx.h"
#include "base/visible.h"
#include "cli/instance/instance.h"
#include "cli/lib/dir.h"
#include "cli/lib/json_text.h"
#include "cli/policy/bundle_dir.h"
#include "cli/verbs.h"
#include "policy/rows/rule.h"

/* Owner of a first export without --owner. */
#define OWNER_DEFAULT "default"

const struct cli_option export_options[] = {
    {"force",                                                                  0, NULL,   offsetof(struct cli_choices,                                              force),                      false,
     "Keep files of objects that the service does not have"},
    {"owner",                                                                        0,                                                                   "NAME", offsetof(struct cli_choices, owner), false,
     "Write NAME as the owner into instance.json; `default` if there is none"},
    {NULL, 0,  NULL,     0,                                                                            false,                                                                                                  NULL                                                                                                  },
};

/* One export. */
struct export
{
    struct instance run;
    struct dir_held held; /* the directory, from the check on */
    json_t *texts;        /* files to write: path to text */
    size_t others;        /* objects of other owners, which are left out */
    size_t written;
};

/* True if an object belongs to another owner. */
static bool
is_others(const struct instance *run, const char *kind, const char *key)
{
    const char *owner =
        json_string_value(json_object_get(instance_object(run->marks, kind, key), "owner"));
    return owner != NULL && strcmp(owner, run->owner) != 0;
}

/* Refuse a name that a file cannot have, then keep the text. */
static void
export_add(struct export *export, const char *path, const char *text)
{
    const char *name = path != NULL ? strrchr(path, '/') : NULL;
    if (path == NULL || text == NULL
        || json_object_set_new(export->texts, path, json_string(text)) != 0)
        instance_refuse(&export->run, "%s: out of memory", path != NULL ? path : "a file");
    else if (name != NULL && strlen(name + 1) > NAME_MAX)
        instance_refuse(&export->run, "%s: a file name has at most 255 octets; rename the object",
                        path);
}

/* Keep a value as a JSON file with sorted members. */
static void
export_json(struct export *export, const char *path, const json_t *value)
{
    const char *text = jsonx_dump_sorted(export->run.cli->mem, value);
    export_add(export, path,
               text != NULL ? json_text_pretty(export->run.cli->mem, text, BUNDLE_DIR_FILE_MAX)
                            : NULL);
}

/* Keep the names of secrets that the file has already. */
static void
keep_references(const struct instance_kind *kind, json_t *object, const json_t *file)
{
    for (size_t i = 0; i < INSTANCE_SECRETS_MAX && kind->secret[i].member != NULL; i++) {
        const struct instance_secret *row = &kind->secret[i];
        json_t *from = (json_t *) (uintptr_t) file, *to = object;
        if (row->outer != NULL)
            from = json_object_get(from, row->outer), to = json_object_get(to, row->outer);
        if (row->inner != NULL)
            from = json_object_get(from, row->member), to = json_object_get(to, row->member);
        const char *member = row->inner != NULL ? row->inner : row->member;
        json_t *value = json_object_get(from, member);
        if (value != NULL && to != NULL)
            json_object_set(to, member, value);
    }
}

static void
export_kind(struct export *export, const struct instance_kind *kind)
{
    struct instance *run = &export->run;
    const char *key;
    json_t *object;
    json_object_foreach (json_object_get(run->stored, kind->name), key, object) {
        if (is_others(run, kind->name, key)) {
            export->others++;
            continue;
        }
        keep_references(kind, object, instance_object(run->files, kind->name, key));
        export_json(export, instance_file_of(run->cli->mem, kind->folder, key), object);
    }
}

/* Keep the rules. Paths come from the database: refuse one that bundle deploy would not read back,
 * and one like .git/hooks/x.rego. */
static void
export_rules(struct export *export)
{
    struct instance *run = &export->run;
    struct jsonx_build disabled = {jsonx_own(run->cli->mem, json_array()), false};
    const char *path;
    json_t *rule;
    json_object_foreach (json_object_get(run->stored, "rule"), path, rule) {
        if (is_others(run, "rule", path)) {
            export->others++;
            continue;
        }
        if (rule_path_fault(path) != NULL || bundle_file_hidden(path)
            || bundle_file_kind(path) != BUNDLE_FILE_RULE) {
            instance_refuse(run,
                            "%s: a rule cannot have this path in a directory; save it under "
                            "another path, then delete this one",
                            path);
            continue;
        }
        export_add(export, talloc_asprintf(run->cli->mem, INSTANCE_POLICY "/%s", path),
                   json_string_value(json_object_get(rule, "content")));
        if (json_is_false(json_object_get(rule, "enabled")))
            jsonx_append(&disabled, json_string(path));
    }
    if (json_array_size(disabled.value) > 0)
        export_json(
            export, INSTANCE_POLICY "/" BUNDLE_DIR_SWITCHES,
            jsonx_own(run->cli->mem, json_pack("{s:O}", "disabled", jsonx_built(&disabled))));
}

/* Keep the rows: entries come back into the payload of their row. */
static void
export_rows(struct export *export)
{
    struct instance *run = &export->run;
    TALLOC_CTX *mem = run->cli->mem;
    static const char *const kinds[] = {"row", "entry"};
    struct jsonx_build rows = {jsonx_own(mem, json_object()), false};
    const char *key;
    json_t *object;
    for (size_t i = 0; i < 2; i++)
        json_object_foreach (json_object_get(run->stored, kinds[i]), key, object) {
            json_t *payload = json_object_get(object, "payload");
            const char *row = i == 0 ? key : instance_row_of(mem, key);
            if (is_others(run, kinds[i], key))
                export->others++;
            else if (i == 0)
                jsonx_set(&rows, row, json_incref(payload));
            else if (row != NULL) {
                if (json_object_get(rows.value, row) == NULL)
                    jsonx_set(&rows, row, json_object());
                rows.lost = rows.lost
                            || !instance_merge(mem, json_object_get(rows.value, row), key, payload);
            }
        }
    json_object_foreach (jsonx_built(&rows), key, object)
        export_json(export,
                    talloc_asprintf(mem, INSTANCE_POLICY "/%s", bundle_file_of_key(mem, key)),
                    object);
    if (rows.lost)
        instance_refuse(run, "out of memory");
}

/* Read the issuer of the service, which may be another than that of the files. */
static int
export_issuer(struct instance *run)
{
    run->issuer = NULL;
    int status = instance_check_issuer(run);
    run->issuer = run->service;
    return status;
}

/* Read what the directory has: the owner and the names of secrets stay, and files of objects that
 * the service does not have are not left behind unseen. */
static int
export_before(struct export *export)
{
    struct instance *run = &export->run;
    struct stat about;
    const char *key;
    json_t *object;
    const char *owner = run->cli->choice.owner;
    if (owner != NULL
        && (*owner == '\0' || strlen(owner) > INSTANCE_OWNER_MAX || visible_fault(owner) != NULL)) {
        output_error("%s: --owner must be a name of at most 200 octets", run->cli->path);
        return CLI_USAGE;
    }
    if (stat(talloc_asprintf(run->cli->mem, "%s/" INSTANCE_FILE, run->dir), &about) != 0) {
        run->files = instance_table(run->cli->mem);
        run->owner = owner != NULL ? owner : OWNER_DEFAULT;
        return run->files != NULL ? CLI_OK : output_no_memory(run->cli);
    }
    int status = instance_read_files(run);
    run->owner = owner != NULL ? owner : run->owner;
    for (const struct instance_kind *kind = instance_kinds; status == CLI_OK && kind->name != NULL;
         kind++)
        json_object_foreach (json_object_get(run->files, kind->name), key, object)
            if (instance_object(run->stored, kind->name, key) == NULL && !run->cli->choice.force)
                instance_refuse(run,
                                "%s: the service has no %s %s; delete its file, or use --force "
                                "to keep it",
                                run->dir, kind->name, key);
    return run->refused ? CLI_FAILED : status;
}

static void
export_make(struct export *export)
{
    struct instance *run = &export->run;
    json_t *about = jsonx_own(run->cli->mem, json_pack("{s:i,s:s*,s:s}", "format", INSTANCE_FORMAT,
                                                       "issuer", run->issuer, "owner", run->owner));
    export_json(export, INSTANCE_FILE, about);
    for (const struct instance_kind *kind = instance_kinds; kind->name != NULL; kind++)
        if (kind->folder != NULL)
            export_kind(export, kind);
    export_rules(export);
    export_rows(export);
}

/* Open and lock the directory: two exports at once would leave a mixture. */
static int
export_open(struct export *export)
{
    struct instance *run = &export->run;
    const char *why = NULL;
    enum dir_holding holding = dir_hold(run->dir, &export->held, &why);
    if (holding == DIR_NOT_HELD)
        instance_refuse(run, "%s: %s; name a directory that is readable and writable", run->dir,
                        why);
    else if (holding == DIR_BUSY)
        instance_refuse(run, "%s: another export is writing to it; wait for it to finish",
                        run->dir);
    return run->refused ? CLI_FAILED : CLI_OK;
}

static int
export_write(struct export *export)
{
    struct instance *run = &export->run;
    const char *path, *why = NULL;
    json_t *text;
    json_object_foreach (export->texts, path, text) {
        enum dir_written done = dir_write(run->cli->mem, export->held.root, path,
                                          json_string_value(text), json_string_length(text), &why);
        if (done == DIR_FAILED)
            instance_refuse(run, "%s/%s: %s", run->dir, path, why);
        else if (done == DIR_WRITTEN) {
            export->written++;
            output_line(run->cli, "written: %s", path);
        }
    }
    if (run->refused)
        output_error("%s: %s: some files were not written; do not apply this directory",
                     run->cli->path, run->dir);
    return run->refused ? CLI_FAILED : CLI_OK;
}

static int
export_tell(const struct export *export)
{
    const struct cli *cli = export->run.cli;
    const size_t files = json_object_size(export->texts);
    if (cli->choice.json)
        output_json(
            jsonx_own(cli->mem, json_pack("{s:i,s:i,s:i,s:s}", "files", (int) files, "written",
                                          (int) export->written, "othersObjects",
                                          (int) export->others, "owner", export->run.owner)));
    if (export->others > 0)
        output_line(cli, "objects of other owners, not written: %zu", export->others);
    output_line(cli, "%zu files, %zu written, owner %s", files, export->written, export->run.owner);
    return CLI_OK;
}

int
export_run(struct cli *cli)
{
    struct export export = {
        .run = {.cli = cli, .dir = cli->args[0]},
        .held = DIR_HELD_NONE,
        .texts = jsonx_own(cli->mem, json_object())
    };
    int status = export.texts != NULL ? instance_read_stored(&export.run) : output_no_memory(cli);
    if (status == CLI_OK)
        status = export_before(&export);
    if (status == CLI_OK)
        status = export_issuer(&export.run);
    if (status == CLI_OK)
        export_make(&export);
    if (status == CLI_OK)
        status = export.run.refused ? CLI_FAILED : export_open(&export);
    if (status == CLI_OK)
        status = export_write(&export);
    dir_release(&export.held);
    return status == CLI_OK ? export_tell(&export) : status;
}
