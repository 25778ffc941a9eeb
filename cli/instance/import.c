/* import: write files from the export of another server, and a report on what became of each of
 * its members (F8). */
#include "config.h"

#include "cli/instance/import.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "base/words.h"
#include "cli/instance/instance.h"
#include "cli/lib/dir.h"
#include "cli/lib/input.h"
#include "cli/lib/json_text.h"
#include "cli/verbs.h"

/* The report, beside the files. */
#define IMPORT_REPORT                                                                              \
    "import"                                                                                       \
    ".md"
/* Largest document, in octets, and its nesting. A realm with a thousand clients has 10 MiB. */
#define IMPORT_MAX (64 << 20)
#define IMPORT_DEPTH_MAX 64
/* Longest text of a member that the report shows, in octets. */
#define IMPORT_SHOWN_MAX 80

#define BINDINGS_FILE INSTANCE_POLICY "/data/svc.entitlements.bindings.json"

/* ---- what became of the members */

static void
import_line(struct import *import, char *text)
{
    /* Names of the source may hold anything: a line stays one line, and no markup. */
    for (char *c = text; c != NULL && *c != '\0'; c++)
        if ((unsigned char) *c < 0x20 || *c == '`' || *c == '|')
            *c = '?';
    if (text == NULL || json_array_append_new(import->lines, output_string(text)) != 0)
        import->lost = true;
}

/* Return a name as it is shown. */
static char *
import_shown(const struct import *import, const char *name)
{
    return utf8_strndup(import->cli->mem, name, IMPORT_SHOWN_MAX);
}

void
import_note(struct import *import, const char *of, const char *member, bool mapped,
            const char *note)
{
    *(mapped ? &import->mapped : &import->told) += 1;
    import_line(import,
                talloc_asprintf(import->cli->mem, "- %s%s %s: %s", mapped ? "" : "**not mapped** ",
                                import_shown(import, of), import_shown(import, member), note));
}

void
import_heading(struct import *import, const char *text)
{
    import_line(import, talloc_strdup(import->cli->mem, ""));
    import_line(import, talloc_asprintf(import->cli->mem, "## %s", text));
    import_line(import, talloc_strdup(import->cli->mem, ""));
}

/* True if a row names a member: a * in it stands for any text. */
static bool
row_names(const struct import_member *row, const char *name)
{
    size_t before = strcspn(row->name, "*"), length = strlen(row->name), given = strlen(name);
    if (before == length)
        return strcmp(row->name, name) == 0;
    size_t after = length - before - 1;
    return given >= before + after && strncmp(row->name, name, before) == 0
           && strcmp(row->name + before + 1, name + given - after) == 0;
}

/* True if a value says nothing: null, "", [] or {}. */
static bool
says_nothing(const json_t *value)
{
    return json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0)
           || (json_is_array(value) && json_array_size(value) == 0)
           || (json_is_object(value) && json_object_size(value) == 0);
}

void
import_members(struct import *import, const char *of, const json_t *from,
               const struct import_member *rows, json_t *to)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) from, name, value) {
        const struct import_member *row = rows;
        while (row->name != NULL && !row_names(row, name))
            row++;
        if (row->name != NULL && row->note == NULL)
            continue; /* the caller notes it */
        if (row->name == NULL)
            import_note(import, of, name, false, "is not known here");
        else if (says_nothing(value))
            import_note(import, of, name, true, "is empty");
        else {
            import_note(import, of, name, row->mapped, row->note);
            if (row->to != NULL && json_object_set(to, row->to, value) != 0)
                import->lost = true;
        }
    }
}

/* ---- objects */

bool
import_has_key(struct import *import, const char *kind, const char *member, const char *key)
{
    if (*key == '\0')
        import_note(import, talloc_asprintf(import->cli->mem, "a %s", kind), member, false,
                    talloc_asprintf(import->cli->mem, "is missing; the %s is left out", kind));
    return *key != '\0';
}

void
import_file(struct import *import, const char *kind, const char *key, json_t *object)
{
    const struct instance_kind *row = instance_kind_named(kind);
    const char *path = instance_file_of(import->cli->mem, row->folder, key);
    if (path != NULL && json_object_get(import->files, path) != NULL)
        import_note(import, kind, key, false, "is there twice; the last one counts");
    if (path == NULL || json_object_set(import->files, path, object) != 0)
        import->lost = true;
}

void
import_word(struct import *import, json_t *object, const char *member, const char *word)
{
    json_t *list = json_object_get(object, member);
    if (list == NULL && json_object_set_new(object, member, list = json_array()) != 0)
        import->lost = true;
    else if (!words_array_has(list, word) && json_array_append_new(list, json_string(word)) != 0)
        import->lost = true;
}

void
import_right(struct import *import, const char *client, const char *list, const char *word)
{
    json_t *clients = json_object_get(import->bindings, "clients"),
           *binding = json_object_get(clients, client);
    if (binding == NULL && json_object_set_new(clients, client, binding = json_object()) != 0)
        import->lost = true;
    else
        import_word(import, binding, list, word);
}

/* ---- files */

static int
import_write(struct import *import, int root, const char *path, const char *text)
{
    const char *why = "out of memory";
    const struct cli *cli = import->cli;
    if (text != NULL && dir_write(cli->mem, root, path, text, strlen(text), &why) != DIR_FAILED)
        return CLI_OK;
    output_error("%s: %s/%s: %s", cli->path, cli->args[1], path, why);
    return CLI_FAILED;
}

static int
import_write_json(struct import *import, int root, const char *path, const json_t *value)
{
    const char *text = jsonx_dump_sorted(import->cli->mem, value);
    return import_write(import, root, path,
                        text != NULL ? json_text_pretty(import->cli->mem, text, INSTANCE_FILE_MAX)
                                     : NULL);
}

/* Return the text of the report. */
static char *
import_report(struct import *import, const char *source)
{
    size_t i;
    json_t *line;
    char *text = talloc_asprintf(
        import->cli->mem,
        "# Import from %s\n\n%zu members were mapped, %zu were not. Read those, then run `authzctl "
        "plan` on this directory.\n",
        source, import->mapped, import->told);
    json_array_foreach (import->lines, i, line)
        text = talloc_asprintf_append_buffer(text, "%s\n", json_string_value(line));
    return text;
}

/* Make the directory: an existing one may have files that somebody edited. */
static int
import_open(const struct cli *cli, const char *dir)
{
    int root = mkdir(dir, DIR_MODE) == 0 ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (root < 0)
        output_error("%s: %s: %s; name a directory that does not exist yet", cli->path, dir,
                     strerror(errno));
    return root;
}

static int
import_save(struct import *import, const char *source)
{
    const char *path;
    json_t *value;
    struct cli *cli = import->cli;
    int root = import_open(cli, cli->args[1]), status = root >= 0 ? CLI_OK : CLI_FAILED;
    json_t *about =
        jsonx_own(cli->mem, json_pack("{s:i,s:s}", "format", INSTANCE_FORMAT, "owner", source));
    if (status == CLI_OK)
        status = import_write_json(import, root, INSTANCE_FILE, about);
    json_object_foreach (import->files, path, value)
        if (status == CLI_OK)
            status = import_write_json(import, root, path, value);
    if (status == CLI_OK && json_object_size(json_object_get(import->bindings, "clients")) > 0)
        status = import_write_json(import, root, BINDINGS_FILE, import->bindings);
    if (status == CLI_OK)
        status = import_write(import, root, IMPORT_REPORT, import_report(import, source));
    if (root >= 0)
        close(root);
    return status;
}

static int
import_print(const struct import *import)
{
    const struct cli *cli = import->cli;
    size_t files = json_object_size(import->files);
    if (cli->choice.json)
        output_json(
            jsonx_own(cli->mem, json_pack("{s:i,s:i,s:i}", "objects", (int) files, "mapped",
                                          (int) import->mapped, "notMapped", (int) import->told)));
    output_line(cli, "%zu objects; members mapped: %zu, not mapped: %zu; read %s/" IMPORT_REPORT,
                files, import->mapped, import->told, cli->args[1]);
    return CLI_OK;
}

static int
import_as(struct cli *cli, const char *source,
          bool (*take)(struct import *import, const json_t *document))
{
    size_t length = 0;
    json_t *document = NULL;
    const char *why = "is not an export of this server";
    struct import import = {
        .cli = cli,
        .files = jsonx_own(cli->mem, json_object()),
        .lines = jsonx_own(cli->mem, json_array()),
        .bindings = jsonx_own(cli->mem, json_pack("{s:{}}", "clients")),
    };
    if (import.files == NULL || import.lines == NULL || import.bindings == NULL)
        return output_no_memory(cli);
    char *text = input_read_file(cli, cli->args[0], IMPORT_MAX, "64 MiB",
                                 "give the JSON that the server exported", &length);
    if (text == NULL)
        return CLI_FAILED;
    if (jsonx_parse(cli->mem, text, length, IMPORT_DEPTH_MAX, &document, &why) != AZ_OK
        || !take(&import, document)) {
        output_error("%s: %s: %s; nothing was written", cli->path, cli->args[0], why);
        return CLI_FAILED;
    }
    if (import.lost)
        return output_no_memory(cli);
    int status = import_save(&import, source);
    return status == CLI_OK ? import_print(&import) : status;
}

int
import_keycloak_run(struct cli *cli)
{
    return import_as(cli, "keycloak", import_keycloak);
}

int
import_hydra_run(struct cli *cli)
{
    return import_as(cli, "hydra", import_hydra);
}
