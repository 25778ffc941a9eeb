#include "config.h"

#include "bundle_dir.h"

#include <string.h>

#include "base/jsonx.h"
#include "base/utf8.h"
#include "dir.h"
#include "json_text.h"
#include "policy/rows/data_key.h"
#include "policy/rows/rule.h"
#include "policy/save/archive.h"

#define DATA_DIR "data/"
#define DATA_SUFFIX ".json"

/* Octets of bundle.json, and its nesting: an object of one array. */
#define SWITCHES_MAX (4 << 20)
#define SWITCHES_DEPTH_MAX 4

static bool
ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), wanted = strlen(suffix);
    return length > wanted && strcmp(text + length - wanted, suffix) == 0;
}

enum bundle_file
bundle_file_kind(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    bool data = strncmp(path, DATA_DIR, strlen(DATA_DIR)) == 0 && path + strlen(DATA_DIR) == name
                && ends_with(name, DATA_SUFFIX);
    if (strcmp(path, BUNDLE_DIR_SWITCHES) == 0)
        return BUNDLE_FILE_SWITCHES;
    if (ends_with(name, "_test.rego"))
        return BUNDLE_FILE_TEST;
    if (ends_with(name, ".rego") || ends_with(name, ".cedar"))
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

void
bundle_dir_fault(struct bundle_dir *dir, const char *path, const char *why)
{
    char *text = talloc_asprintf(dir->mem, "%s%s%s: %s", dir->name, *path != '\0' ? "/" : "", path,
                                 why != NULL ? why : "no memory");
    /* A name may hold any octets: a line feed would be taken for a blank, and Jansson takes no text
     * that is not UTF-8. */
    for (char *c = text; text != NULL && *c != '\0'; c++)
        if ((unsigned char) *c < 0x20)
            *c = '?';
    for (char *c = text; text != NULL && !utf8_valid(text, strlen(text)) && *c != '\0'; c++)
        if ((unsigned char) *c >= 0x80)
            *c = '?';
    json_array_append_new(dir->faults, json_string(text != NULL ? text : "no memory"));
}

/* The text of a file, clean UTF-8 within its limit and that of the whole; NULL with the fault
 * told. */
static char *
read_text(struct bundle_dir *dir, const struct dir_entry *entry, size_t max, size_t *ret_length)
{
    const char *why = NULL;
    char *text = dir_read(dir->mem, entry->at, entry->name, max, ret_length, &why);
    if (text == NULL) {
        bundle_dir_fault(
            dir, entry->path,
            talloc_asprintf(dir->mem, "%s; give a readable file of at most %zu octets", why, max));
        return NULL;
    }
    size_t line = bundle_text_fault_line(text, *ret_length);
    if (line > 0)
        bundle_dir_fault(dir, talloc_asprintf(dir->mem, "%s:%zu", entry->path, line),
                         "is not UTF-8 text, or holds a NUL; save it as UTF-8");
    return line > 0 ? NULL : text;
}

/* An array that has grown to a power of two is full. */
static bool
is_full(size_t count)
{
    return (count & (count - 1)) == 0;
}

static void
add_rule(struct bundle_dir *dir, struct deploy_rule **list, size_t *count,
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
add_data(struct bundle_dir *dir, const struct dir_entry *entry, const char *key,
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

/* The whole is bounded before it is full: a deploy of more would be refused anyway. */
static bool
has_room(struct bundle_dir *dir, const struct dir_entry *entry, size_t count, size_t most,
         size_t octets)
{
    size_t before = dir->octets;
    dir->octets += octets;
    if (before > ARCHIVE_MAX)
        return false; /* told already */
    if (dir->octets > ARCHIVE_MAX)
        bundle_dir_fault(dir, "",
                         "its files are together larger than 64 MiB, which no bundle can "
                         "be; take some out");
    else if (count == most)
        bundle_dir_fault(dir, entry->path,
                         talloc_asprintf(dir->mem,
                                         "is one more than the %zu that a deploy takes; "
                                         "join some",
                                         most));
    return dir->octets <= ARCHIVE_MAX && count < most;
}

static void
take_rule(struct bundle_dir *dir, const struct dir_entry *entry, bool test)
{
    size_t length = 0;
    const char *why = rule_path_fault(entry->path);
    if (why != NULL) {
        bundle_dir_fault(dir, entry->path,
                         talloc_asprintf(dir->mem, "the path of a rule %s; rename it", why));
        return;
    }
    char *text = read_text(dir, entry, RULE_CONTENT_MAX, &length);
    if (text == NULL
        || !has_room(dir, entry, test ? dir->tests : dir->rules, DEPLOY_RULES_MAX, length))
        return;
    if (test)
        add_rule(dir, &dir->test, &dir->tests, entry, text);
    else
        add_rule(dir, &dir->rule, &dir->rules, entry, text);
}

/* The line where JSON goes wrong, which jsonx does not say; 0 when Jansson takes it. */
static int
json_fault_line(const char *text, size_t length)
{
    json_error_t error;
    json_t *value = json_loadb(text, length, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
    json_decref(value);
    return value == NULL ? error.line : 0;
}

/* One JSON value, or NULL with the fault told. */
static json_t *
read_json(struct bundle_dir *dir, const struct dir_entry *entry, size_t max, size_t depth,
          char **ret_text)
{
    size_t length = 0;
    json_t *value = NULL;
    const char *why = NULL;
    char *text = read_text(dir, entry, max, &length);
    if (text == NULL)
        return NULL;
    if (jsonx_parse(dir->mem, text, length, depth, &value, &why) == AZ_OK) {
        *ret_text = text;
        return value;
    }
    int line = json_fault_line(text, length);
    const char *path =
        line > 0 ? talloc_asprintf(dir->mem, "%s:%d", entry->path, line) : entry->path;
    bundle_dir_fault(
        dir, path,
        talloc_asprintf(dir->mem, "%s; give one JSON value", why != NULL ? why : "no memory"));
    talloc_free(text);
    return NULL;
}

static void
take_data(struct bundle_dir *dir, const struct dir_entry *entry)
{
    char *key = bundle_key_of_file(dir->mem, entry->path), *text = NULL;
    const char *why = policy_data_key_fault(key);
    if (why != NULL) {
        bundle_dir_fault(dir, entry->path,
                         talloc_asprintf(dir->mem, "the data key %s; rename the file", why));
        return;
    }
    json_t *value = read_json(dir, entry, BUNDLE_DIR_FILE_MAX, POLICY_DATA_DEPTH_MAX, &text);
    if (value == NULL)
        return;
    char *payload = json_text_compact(dir->mem, text, POLICY_DATA_PAYLOAD_MAX);
    talloc_free(text);
    if (payload == NULL) {
        bundle_dir_fault(dir, entry->path, "is larger than 8 MiB; use several rows");
        return;
    }
    if (has_room(dir, entry, dir->data_rows, DEPLOY_DATA_MAX, strlen(payload)))
        add_data(dir, entry, key, payload);
}

static void
take_switches(struct bundle_dir *dir, const struct dir_entry *entry)
{
    char *text;
    dir->switches = read_json(dir, entry, SWITCHES_MAX, SWITCHES_DEPTH_MAX, &text);
}

static void
take_other(struct bundle_dir *dir, const struct dir_entry *entry)
{
    if (utf8_valid(entry->path, strlen(entry->path)))
        json_array_append_new(dir->ignored, json_string(entry->path));
    else
        json_array_append_new(dir->ignored, json_string("(a name that is not UTF-8)"));
}

/* A link may lead to rules that are meant to be deployed: whoever made it hears of it, rather than
 * losing them to `--mode replace`. */
static void
take_entry(void *arg, const struct dir_entry *entry)
{
    struct bundle_dir *dir = arg;
    enum bundle_file kind = bundle_file_kind(entry->path);
    if (!entry->regular && kind != BUNDLE_FILE_README) {
        bundle_dir_fault(dir, entry->path,
                         "is a symbolic link or no regular file, and not followed; put the file "
                         "itself there");
        return;
    }
    switch (kind) {
    case BUNDLE_FILE_RULE:
    case BUNDLE_FILE_TEST:
        take_rule(dir, entry, kind == BUNDLE_FILE_TEST);
        break;
    case BUNDLE_FILE_DATA:
        take_data(dir, entry);
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
hear_fault(void *arg, const char *path, const char *why)
{
    bundle_dir_fault(arg, path,
                     *path == '\0' ? talloc_asprintf(((struct bundle_dir *) arg)->mem,
                                                     "%s; name a directory that can be read", why)
                                   : why);
}

static bool
disable_rule(struct bundle_dir *dir, const char *path)
{
    for (size_t i = 0; path != NULL && i < dir->rules; i++)
        if (strcmp(dir->rule[i].path, path) == 0) {
            dir->rule[i].enabled = false;
            return true;
        }
    return false;
}

/* {"disabled": [PATH...]}. A misspelt member or path would let a draft into the bundle. */
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
                         "is not of the form {\"disabled\": [PATH...]}; write it so, or delete it");
        return;
    }
    json_array_foreach (disabled, i, path)
        if (!disable_rule(dir, json_string_value(path)))
            bundle_dir_fault(
                dir, BUNDLE_DIR_SWITCHES,
                talloc_asprintf(dir->mem,
                                "disabled[%zu] names %s, which is no rule here; "
                                "correct it or take it out",
                                i, json_is_string(path) ? json_string_value(path) : "no text"));
}

/* `DIR` and `DIR/` are one name in messages. */
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
        .mem = mem, .dir = name, .take = take_entry, .fault = hear_fault, .arg = ret};
    if (ret->name == NULL || ret->ignored == NULL || ret->faults == NULL)
        return false;
    dir_walk(&walk);
    if (json_array_size(ret->faults) == 0)
        apply_switches(ret);
    return json_array_size(ret->faults) == 0;
}

bool
bundle_dir_has_tests(const struct bundle_dir *dir)
{
    for (size_t i = 0; i < dir->tests; i++) {
        const char *text = dir->test[i].content;
        if (strncmp(text, "test_", 5) == 0 || strstr(text, "\ntest_") != NULL)
            return true;
    }
    return false;
}
