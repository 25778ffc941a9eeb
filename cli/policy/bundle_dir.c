#include "config.h"

#include "cli/policy/bundle_dir.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "base/words.h"
#include "cli/lib/dir.h"
#include "cli/lib/json_text.h"
#include "policy/rows/data_key.h"
#include "policy/rows/rego_rules.h"
#include "policy/rows/rule.h"
#include "policy/save/bundle/archive.h"

#define DATA_DIR "data/"
#define DATA_SUFFIX ".json"

/* Largest bundle.json in octets, and its nesting: an object with one array. */
#define SWITCHES_MAX (4 << 20)
#define SWITCHES_DEPTH_MAX 4

enum bundle_file
bundle_file_kind(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    bool data = strncmp(path, DATA_DIR, strlen(DATA_DIR)) == 0 && path + strlen(DATA_DIR) == name
                && words_end(name, DATA_SUFFIX);
    if (strcmp(path, BUNDLE_DIR_SWITCHES) == 0)
        return BUNDLE_FILE_SWITCHES;
    if (words_end(name, "_test.rego"))
        return BUNDLE_FILE_TEST;
    if (words_end(name, ".rego") || words_end(name, ".cedar"))
        return BUNDLE_FILE_RULE;
    if (data)
        return BUNDLE_FILE_DATA;
    return strncmp(name, "README", 6) == 0 ? BUNDLE_FILE_README : BUNDLE_FILE_OTHER;
}

bool
bundle_file_hidden(const char *path)
{
    return *path == '.' || strstr(path, "/.") != NULL;
}

char *
bundle_file_of_key(TALLOC_CTX *mem, const char *data_key)
{
    return talloc_asprintf(mem, DATA_DIR "%s" DATA_SUFFIX, data_key);
}

char *
bundle_key_of_file(TALLOC_CTX *mem, const char *path)
{
    return talloc_strndup(mem, path + strlen(DATA_DIR),
                          strlen(path) - strlen(DATA_DIR) - strlen(DATA_SUFFIX));
}

size_t
bundle_text_fault_line(const char *text, size_t length)
{
    size_t line = 1;
    for (size_t at = 0; at < length; line++) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t count = (end != NULL ? (size_t) (end - text) + 1 : length) - at;
        if (!utf8_valid(text + at, count) || text_has_nul(text + at, count))
            return line;
        at += count;
    }
    return 0;
}

/* Add a fault of a file; path "" is the directory itself, why NULL means out of memory. */
static void
bundle_dir_fault(struct bundle_dir *dir, const char *path, const char *why)
{
    char *text = talloc_asprintf(dir->mem, "%s%s%s: %s", dir->name, *path != '\0' ? "/" : "", path,
                                 why != NULL ? why : "out of memory");
    /* A file name may contain any octets: a line feed would print as a blank, and Jansson refuses
     * text that is not UTF-8. */
    for (char *c = text; text != NULL && *c != '\0'; c++)
        if ((unsigned char) *c < 0x20)
            *c = '?';
    for (char *c = text; text != NULL && !utf8_valid(text, strlen(text)) && *c != '\0'; c++)
        if ((unsigned char) *c >= 0x80)
            *c = '?';
    if (json_array_append_new(dir->faults, json_string(text != NULL ? text : "out of memory")) != 0)
        dir->lost = true;
}

/* Return the text of a file, valid UTF-8 of at most max octets; NULL after adding a fault. */
static char *
bundle_dir_text(struct bundle_dir *dir, const struct dir_entry *entry, size_t max,
                size_t *ret_length)
{
    const char *why = NULL;
    char *text = dir_read(dir->mem, entry->at, entry->name, max, ret_length, &why);
    if (text == NULL) {
        bundle_dir_fault(dir, entry->path,
                         talloc_asprintf(dir->mem,
                                         "%s; it must be a readable file of at most %zu octets",
                                         why, max));
        return NULL;
    }
    size_t line = bundle_text_fault_line(text, *ret_length);
    if (line > 0)
        bundle_dir_fault(dir, talloc_asprintf(dir->mem, "%s:%zu", entry->path, line),
                         "is not UTF-8 text or contains a NUL; save it as UTF-8");
    return line > 0 ? NULL : text;
}

/* True if an array of this many elements must grow: its size doubles at each power of two. */
static bool
is_full(size_t count)
{
    return (count & (count - 1)) == 0;
}

static void
bundle_dir_add_rule(struct bundle_dir *dir, struct deploy_rule **list, size_t *count,
                    const struct dir_entry *entry, const char *content)
{
    struct deploy_rule *room = *list;
    if (is_full(*count))
        room = talloc_realloc(dir->mem, *list, struct deploy_rule, *count > 0 ? *count * 2 : 1);
    if (room == NULL) {
        bundle_dir_fault(dir, entry->path, NULL);
        return;
    }
    *list = room;
    room[(*count)++] =
        (struct deploy_rule){.path = entry->path, .content = content, .enabled = true};
}

static void
bundle_dir_add_data(struct bundle_dir *dir, const struct dir_entry *entry, const char *key,
                    const char *payload)
{
    struct deploy_data *room = dir->data;
    if (is_full(dir->data_rows))
        room = talloc_realloc(dir->mem, dir->data, struct deploy_data,
                              dir->data_rows > 0 ? dir->data_rows * 2 : 1);
    if (room == NULL) {
        bundle_dir_fault(dir, entry->path, NULL);
        return;
    }
    dir->data = room;
    room[dir->data_rows++] = (struct deploy_data){.data_key = key, .payload = payload};
}

/* Count a file and check the limits of a deploy, so that a huge directory is not read to its end.
 * False after adding a fault. */
static bool
has_room(struct bundle_dir *dir, const struct dir_entry *entry, size_t count, size_t most,
         size_t octets)
{
    size_t before = dir->octets;
    dir->octets += octets;
    if (before > ARCHIVE_MAX)
        return false; /* the fault is added already */
    if (dir->octets > ARCHIVE_MAX)
        bundle_dir_fault(dir, "",
                         "its files are larger than 64 MiB together, the limit of a bundle; "
                         "remove some");
    else if (count == most)
        bundle_dir_fault(dir, entry->path,
                         talloc_asprintf(dir->mem,
                                         "exceeds the limit of %zu files of this kind; "
                                         "merge some of them",
                                         most));
    return dir->octets <= ARCHIVE_MAX && count < most;
}

static void
bundle_dir_take_rule(struct bundle_dir *dir, const struct dir_entry *entry, bool test)
{
    size_t length = 0;
    const char *why = rule_path_fault(entry->path);
    if (why != NULL) {
        bundle_dir_fault(dir, entry->path,
                         talloc_asprintf(dir->mem, "the path of a rule %s; rename the file", why));
        return;
    }
    char *text = bundle_dir_text(dir, entry, RULE_CONTENT_MAX, &length);
    if (text == NULL
        || !has_room(dir, entry, test ? dir->tests : dir->rules, DEPLOY_RULES_MAX, length))
        return;
    if (test)
        bundle_dir_add_rule(dir, &dir->test, &dir->tests, entry, text);
    else
        bundle_dir_add_rule(dir, &dir->rule, &dir->rules, entry, text);
}

/* Return the line of the first JSON error, which jsonx does not report; 0 if Jansson accepts the
 * text. */
static int
json_fault_line(const char *text, size_t length)
{
    json_error_t error;
    json_t *value = json_loadb(text, length, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
    json_decref(value);
    return value == NULL ? error.line : 0;
}

/* Read a file as one JSON value; NULL after adding a fault. */
static json_t *
bundle_dir_json(struct bundle_dir *dir, const struct dir_entry *entry, size_t max, size_t depth,
                char **ret_text)
{
    size_t length = 0;
    json_t *value = NULL;
    const char *why = NULL;
    char *text = bundle_dir_text(dir, entry, max, &length);
    if (text == NULL)
        return NULL;
    if (jsonx_parse(dir->mem, text, length, depth, &value, &why) == AZ_OK) {
        *ret_text = text;
        return value;
    }
    int line = json_fault_line(text, length);
    const char *path =
        line > 0 ? talloc_asprintf(dir->mem, "%s:%d", entry->path, line) : entry->path;
    bundle_dir_fault(dir, path,
                     talloc_asprintf(dir->mem, "%s; it must be one JSON value",
                                     why != NULL ? why : "out of memory"));
    talloc_free(text);
    return NULL;
}

static void
bundle_dir_take_data(struct bundle_dir *dir, const struct dir_entry *entry)
{
    char *key = bundle_key_of_file(dir->mem, entry->path), *text = NULL;
    const char *why = policy_data_key_fault(key);
    if (why != NULL) {
        bundle_dir_fault(dir, entry->path,
                         talloc_asprintf(dir->mem, "the data key %s; rename the file", why));
        return;
    }
    json_t *value = bundle_dir_json(dir, entry, BUNDLE_DIR_FILE_MAX, POLICY_DATA_DEPTH_MAX, &text);
    if (value == NULL)
        return;
    char *payload = json_text_compact(dir->mem, text, POLICY_DATA_PAYLOAD_MAX);
    talloc_free(text);
    if (payload == NULL) {
        bundle_dir_fault(dir, entry->path, "is larger than 8 MiB; split it into several rows");
        return;
    }
    if (has_room(dir, entry, dir->data_rows, DEPLOY_DATA_MAX, strlen(payload)))
        bundle_dir_add_data(dir, entry, key, payload);
}

static void
take_switches(struct bundle_dir *dir, const struct dir_entry *entry)
{
    char *text;
    dir->switches = bundle_dir_json(dir, entry, SWITCHES_MAX, SWITCHES_DEPTH_MAX, &text);
}

static void
take_other(struct bundle_dir *dir, const struct dir_entry *entry)
{
    bool clean = utf8_valid(entry->path, strlen(entry->path));
    const char *path = clean ? entry->path : "(a file name that is not UTF-8)";
    if (json_array_append_new(dir->ignored, json_string(path)) != 0)
        dir->lost = true;
}

/* Refuse a link instead of ignoring it: it may lead to rules that the administrator means to
 * deploy, and `--mode replace` would delete them. */
static void
take_entry(void *arg, const struct dir_entry *entry)
{
    struct bundle_dir *dir = arg;
    enum bundle_file kind = bundle_file_kind(entry->path);
    if (!entry->regular && kind != BUNDLE_FILE_README) {
        bundle_dir_fault(dir, entry->path,
                         "is a symbolic link or not a regular file; replace it by the file itself");
        return;
    }
    switch (kind) {
    case BUNDLE_FILE_RULE:
    case BUNDLE_FILE_TEST:
        bundle_dir_take_rule(dir, entry, kind == BUNDLE_FILE_TEST);
        break;
    case BUNDLE_FILE_DATA:
        bundle_dir_take_data(dir, entry);
        break;
    case BUNDLE_FILE_SWITCHES:
        take_switches(dir, entry);
        break;
    case BUNDLE_FILE_README:
    case BUNDLE_FILE_OTHER:
        take_other(dir, entry);
        break;
    }
}

static void
bundle_dir_hear(void *arg, const char *path, const char *why)
{
    bundle_dir_fault(arg, path,
                     *path == '\0' ? talloc_asprintf(((struct bundle_dir *) arg)->mem,
                                                     "%s; name a readable directory", why)
                                   : why);
}

static bool
disable_rule(struct bundle_dir *dir, const char *path)
{
    for (size_t i = 0; i < dir->rules; i++)
        if (strcmp(dir->rule[i].path, path) == 0) {
            dir->rule[i].enabled = false;
            return true;
        }
    return false;
}

/* Apply {"disabled": [PATH...]}. Refuse a misspelt member or path: it would let a draft into the
 * bundle. */
static void
apply_switches(struct bundle_dir *dir)
{
    const json_t *disabled = json_object_get(dir->switches, "disabled");
    size_t i;
    json_t *path;
    if (dir->switches == NULL)
        return;
    if (json_object_size(dir->switches) != 1 || !json_is_array(disabled)) {
        bundle_dir_fault(dir, BUNDLE_DIR_SWITCHES,
                         "must have the form {\"disabled\": [PATH...]}; correct or delete it");
        return;
    }
    json_array_foreach (disabled, i, path) {
        const char *name = json_string_value(path);
        if (name == NULL)
            bundle_dir_fault(dir, BUNDLE_DIR_SWITCHES,
                             talloc_asprintf(dir->mem, "disabled[%zu] must be a string", i));
        else if (!disable_rule(dir, name))
            bundle_dir_fault(dir, BUNDLE_DIR_SWITCHES,
                             talloc_asprintf(dir->mem,
                                             "disabled[%zu] names %s, which is not a rule in "
                                             "this directory; correct or remove it",
                                             i, name));
    }
}

/* Return a name without slashes at its end, so that messages show `DIR` for `DIR/` too. */
static char *
trim_name(TALLOC_CTX *mem, const char *name)
{
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] == '/')
        length--;
    return talloc_strndup(mem, name, length);
}

bool
bundle_dir_read(TALLOC_CTX *mem, const char *name, struct bundle_dir *ret)
{
    *ret = (struct bundle_dir){.mem = mem,
                               .name = trim_name(mem, name),
                               .ignored = jsonx_own(mem, json_array()),
                               .faults = jsonx_own(mem, json_array())};
    struct dir_walk walk = {
        .mem = mem, .dir = name, .take = take_entry, .fault = bundle_dir_hear, .arg = ret};
    if (ret->name == NULL || ret->ignored == NULL || ret->faults == NULL)
        return false;
    dir_walk(&walk);
    if (json_array_size(ret->faults) == 0)
        apply_switches(ret);
    return json_array_size(ret->faults) == 0 && !ret->lost;
}

/* True if the engine's program would run a rule of the text: one whose name begins with test_ or
 * todo_test_. A text that cannot be read by its words counts if it has the word. */
static bool
has_test(TALLOC_CTX *mem, const char *text)
{
    struct rego_rule *rule = NULL;
    size_t count = 0;
    if (!rego_rules_find(mem, text, &rule, &count))
        return strstr(text, "test_") != NULL;
    for (size_t i = 0; i < count; i++)
        if (strncmp(rule[i].name, "test_", 5) == 0 || strncmp(rule[i].name, "todo_test_", 10) == 0)
            return true;
    return false;
}

bool
bundle_dir_has_tests(const struct bundle_dir *dir)
{
    for (size_t i = 0; i < dir->tests; i++)
        if (has_test(dir->mem, dir->test[i].content))
            return true;
    return false;
}
