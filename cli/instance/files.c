/* Read the directory of an instance. */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "base/words.h"
#include "cli/instance/instance.h"
#include "cli/lib/dir.h"
#include "cli/policy/bundle.h"

/* One reading. */
struct reading {
    struct instance *run;
    json_t *about; /* instance.json, or NULL */
    bool policy;   /* policy/ has files */
};

static void
files_fault(void *arg, const char *path, const char *why)
{
    const struct reading *reading = arg;
    struct instance *run = reading->run;
    instance_refuse(run, "%s%s%s: %s", run->dir, *path != '\0' ? "/" : "",
                    utf8_valid(path, strlen(path)) ? path : "(a name that is not UTF-8)", why);
}

/* Read a file as one JSON object; NULL after the error was printed. */
static json_t *
read_object(struct reading *reading, const struct dir_entry *entry)
{
    TALLOC_CTX *mem = reading->run->cli->mem;
    size_t length = 0;
    json_t *object = NULL;
    const char *why = NULL;
    char *text = dir_read(mem, entry->at, entry->name, INSTANCE_FILE_MAX, &length, &why);
    if (text != NULL && jsonx_parse(mem, text, length, CALL_DEPTH_MAX, &object, &why) == AZ_OK
        && !json_is_object(object))
        object = NULL, why = "is not a JSON object";
    talloc_free(text);
    if (object == NULL)
        files_fault(reading, entry->path, why != NULL ? why : "out of memory");
    return object;
}

/* Refuse members of a connector that have no effect. */
static void
check_connector(struct reading *reading, const struct dir_entry *entry, const json_t *object)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) object, name, value)
        if (strcmp(name, "id") != 0 && strcmp(name, "version") != 0
            && strcmp(name, INSTANCE_SETTINGS) != 0)
            files_fault(reading, entry->path, "has a member other than id, version and settings");
    value = json_object_get(object, INSTANCE_SETTINGS);
    if (value != NULL && !json_is_object(value))
        files_fault(reading, entry->path, "settings must be an object; {} clears them");
}

/* Take the object of a file. */
static void
take_object(struct reading *reading, const struct instance_kind *kind,
            const struct dir_entry *entry)
{
    struct instance *run = reading->run;
    const char *key = words_end(entry->path, INSTANCE_SUFFIX)
                          ? instance_key_of(run->cli->mem, kind->folder, entry->path)
                          : NULL;
    if (key == NULL || !utf8_valid(key, strlen(key))) {
        files_fault(reading, entry->path,
                    "is not the name of an object; name the file NAME.json, with octets beyond "
                    "letters, digits and ._- as %XX");
        return;
    }
    json_t *object = read_object(reading, entry);
    if (object == NULL)
        return;
    const char *named = json_string_value(json_object_get(object, kind->key));
    if (named != NULL && strcmp(named, key) != 0) {
        files_fault(reading, entry->path,
                    talloc_asprintf(run->cli->mem, "%s is '%s', which is not the name of the file",
                                    kind->key, named));
        return;
    }
    for (const char *const *name = kind->omitted; *name != NULL; name++)
        if (json_object_get(object, *name) != NULL)
            files_fault(reading, entry->path,
                        talloc_asprintf(run->cli->mem, "the service sets %s; remove it", *name));
    if (strcmp(kind->name, "connector") == 0)
        check_connector(reading, entry, object);
    instance_check_secrets(run, kind, entry->path, object);
    if (json_object_set_new(object, kind->key, json_string(key)) != 0
        || !instance_put(run->files, kind->name, key, json_incref(object)))
        files_fault(reading, entry->path, "out of memory");
}

static void
take_file(void *arg, const struct dir_entry *entry)
{
    struct reading *reading = arg;
    size_t first = strcspn(entry->path, "/");
    const bool policy =
        strncmp(entry->path, INSTANCE_POLICY, first) == 0 && first == strlen(INSTANCE_POLICY);
    const bool rules = policy && entry->path[first] == '/';
    if (!entry->regular && !rules) {
        files_fault(reading, entry->path,
                    "is a symbolic link or not a regular file; replace it by the file itself");
        return;
    }
    reading->policy = reading->policy || rules;
    if (strcmp(entry->path, INSTANCE_FILE) == 0)
        reading->about = read_object(reading, entry);
    for (const struct instance_kind *kind = instance_kinds; kind->name != NULL; kind++)
        if (kind->folder != NULL && strlen(kind->folder) == first && entry->path[first] == '/'
            && strncmp(entry->path, kind->folder, first) == 0) {
            take_object(reading, kind, entry);
            return;
        }
    if (!policy && strcmp(entry->path, INSTANCE_FILE) != 0)
        output_line(reading->run->cli, "ignored: %s", entry->path);
}

/* Take instance.json: {format, owner, issuer}. */
static void
take_about(struct reading *reading)
{
    struct instance *run = reading->run;
    const json_t *about = reading->about;
    const char *name;
    json_t *value;
    run->owner = json_string_value(json_object_get(about, "owner"));
    run->issuer = json_string_value(json_object_get(about, "issuer"));
    if (about == NULL && !run->refused)
        files_fault(reading, INSTANCE_FILE,
                    "is missing; `authzctl export` writes it: {\"format\": 1, \"owner\": NAME}");
    json_object_foreach ((json_t *) (uintptr_t) about, name, value)
        if (strcmp(name, "format") != 0 && strcmp(name, "owner") != 0
            && strcmp(name, "issuer") != 0)
            files_fault(reading, INSTANCE_FILE, "has a member other than format, owner and issuer");
    if (about != NULL && json_integer_value(json_object_get(about, "format")) != INSTANCE_FORMAT)
        files_fault(reading, INSTANCE_FILE, "format must be 1");
    if (about != NULL
        && (run->owner == NULL || *run->owner == '\0' || strlen(run->owner) > INSTANCE_OWNER_MAX
            || visible_fault(run->owner) != NULL))
        files_fault(reading, INSTANCE_FILE,
                    "owner must be a name of at most 200 octets: whose objects these are");
}

/* Put the rules and rows of policy/ into the table. */
static bool
take_policy(struct instance *run, const struct bundle_dir *dir)
{
    bool done = true;
    for (size_t i = 0; i < dir->rules; i++)
        done = instance_put(run->files, "rule", dir->rule[i].path,
                            json_pack("{s:s,s:b}", "content", dir->rule[i].content, "enabled",
                                      dir->rule[i].enabled))
               && done;
    for (size_t i = 0; i < dir->data_rows; i++) {
        json_t *payload = NULL;
        done = jsonx_parse(run->cli->mem, dir->data[i].payload, strlen(dir->data[i].payload),
                           CALL_DEPTH_MAX, &payload, NULL)
                   == AZ_OK
               && instance_split(run->cli->mem, run->files, dir->data[i].data_key, payload) && done;
    }
    return done;
}

static int
read_policy_files(struct instance *run)
{
    struct bundle_dir dir;
    int status = bundle_read_dir(
        run->cli, talloc_asprintf(run->cli->mem, "%s/" INSTANCE_POLICY, run->dir), &dir);
    return status == CLI_OK && !take_policy(run, &dir) ? output_no_memory(run->cli) : status;
}

int
instance_read_files(struct instance *run)
{
    struct reading reading = {.run = run};
    run->files = instance_table(run->cli->mem);
    if (run->files == NULL)
        return output_no_memory(run->cli);
    struct dir_walk walk = {.mem = run->cli->mem,
                            .dir = run->dir,
                            .take = take_file,
                            .fault = files_fault,
                            .arg = &reading};
    dir_walk(&walk);
    take_about(&reading);
    int status = reading.policy ? read_policy_files(run) : CLI_OK;
    return run->refused ? CLI_FAILED : status;
}
