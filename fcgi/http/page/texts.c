#include "config.h"

#include "http/page/texts.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "http/page/language.h"
#include "http/page/page_site.h"
#include "http/page/page_text.h"

#define SUFFIX ".json"

/* A file is an object of texts. */
#define FILE_DEPTH 1

/* Missing texts that a warning names; it counts the rest. */
#define NAMED_MAX 8

static const char *const directions[] = {"ltr", "rtl", NULL};

/* State of reading the files. */
struct texts_reading {
    TALLOC_CTX *mem;
    const struct texts_told *told;
    const char *dir;
    bool own;      /* the directory is the operator's */
    json_t *found; /* texts as read, by tag */
    bool failed;
};

static void
texts_problem(struct texts_reading *reading, const char *path, const char *why)
{
    reading->failed = true;
    problems_add(reading->told->mem, reading->told->problems,
                 reading->own
                     ? "SVC_LANGUAGES_DIR: %s: %s; correct the file or delete it"
                     : "SVC_DATA_DIR: %s: %s; restore the file that comes with the program",
                 path, why);
}

/* Return why a text cannot be used, or NULL. It must have the same values as the English text: a
 * page that leaves out who asks would hide it. */
static const char *
text_fault(const struct texts_reading *reading, const char *name, const json_t *text)
{
    const char *value = json_string_value(text);
    const json_t *english = json_object_get(reading->found, LANGUAGE_ENGLISH);
    const char *same = json_string_value(json_object_get(english, name));
    if (english != NULL && same == NULL)
        return "no page has this text";
    if (value == NULL || *value == '\0')
        return "is not a text";
    if (strcmp(name, TEXTS_DIRECTION) == 0 && !words_has(directions, value))
        return "must be ltr or rtl";
    if (!text_same_values(value, same != NULL ? same : value))
        return "must have the values {...} of the English text, and no other braces";
    return NULL;
}

/* Take the texts of a file that can be used. */
static void
texts_take(struct texts_reading *reading, const char *path, const char *tag, const json_t *texts)
{
    const char *name, *known = language_same(reading->found, tag, strlen(tag));
    json_t *text, *to = json_object();
    if (known != NULL)
        json_object_update(to, json_object_get(reading->found, known));
    json_object_foreach ((json_t *) (uintptr_t) texts, name, text) {
        const char *why = text_fault(reading, name, text);
        if (why == NULL)
            reading->failed |= json_object_set(to, name, text) != 0;
        else
            problems_add(reading->told->mem, reading->told->warnings,
                         "%s: %s: %s: %s; the English text stands in its place",
                         reading->own ? "SVC_LANGUAGES_DIR" : "SVC_DATA_DIR", path, name, why);
    }
    reading->failed |= json_object_set_new(reading->found, known != NULL ? known : tag, to) != 0;
}

static void
texts_read_file(struct texts_reading *reading, const char *file)
{
    size_t length = 0;
    json_t *texts = NULL;
    const char *why = NULL;
    const char *path = talloc_asprintf(reading->mem, "%s/%s", reading->dir, file);
    const char *tag = talloc_strndup(reading->mem, file, strlen(file) - strlen(SUFFIX));
    char *text = path != NULL ? page_read_file(reading->mem, path, TEXTS_FILE_MAX, &length) : NULL;
    if (tag == NULL || path == NULL || (text == NULL && errno == ENOMEM))
        reading->failed = true;
    else if (text == NULL)
        why = strerror(errno);
    else if (!language_is_tag(tag))
        why = "the name must be a language tag, such as fr.json or pt-BR.json";
    else if (length > TEXTS_FILE_MAX)
        why = "the file is too large";
    else if (json_object_size(reading->found) == TEXTS_LANGUAGES_MAX
             && language_same(reading->found, tag, strlen(tag)) == NULL)
        why = "there are too many languages";
    else if (jsonx_parse(reading->mem, text, length, FILE_DEPTH, &texts, &why) == AZ_OK
             && !json_is_object(texts))
        why = "the file is not an object of texts";
    if (why != NULL)
        texts_problem(reading, path, why);
    else if (texts != NULL)
        texts_take(reading, path, tag, texts);
}

static int
is_text_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && words_end(entry->d_name, SUFFIX);
}

static int
compare_entries(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Read the files of a directory; English is read already if it is the shipped one. */
static void
texts_read_dir(struct texts_reading *reading, const char *dir, bool own)
{
    struct dirent **entries = NULL;
    reading->dir = dir;
    reading->own = own;
    if (!own)
        texts_read_file(reading, LANGUAGE_ENGLISH SUFFIX);
    int count = reading->failed ? 0 : scandir(dir, &entries, is_text_file, compare_entries);
    bool optional = own && strcmp(dir, SETTINGS_LANGUAGES_DIR) == 0;
    if (count < 0 && !(optional && (errno == ENOENT || errno == EACCES)))
        texts_problem(reading, dir, strerror(errno));
    for (int i = 0; i < count; i++) {
        if (own || strcmp(entries[i]->d_name, LANGUAGE_ENGLISH SUFFIX) != 0)
            texts_read_file(reading, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

/* Fill up the texts of a language from English, and tell which are missing. */
static void
texts_complete(struct texts_reading *reading, const char *tag, json_t *texts)
{
    const json_t *english = json_object_get(reading->found, LANGUAGE_ENGLISH);
    char *names = talloc_strdup(reading->mem, "");
    size_t missing = 0;
    const char *name;
    json_t *text;
    json_object_foreach ((json_t *) (uintptr_t) english, name, text) {
        if (json_object_get(texts, name) != NULL)
            continue;
        if (missing++ < NAMED_MAX && names != NULL)
            names = talloc_asprintf_append_buffer(names, "%s%s", missing > 1 ? ", " : "", name);
        reading->failed |= json_object_set(texts, name, text) != 0;
    }
    if (missing > 0)
        problems_add(reading->told->mem, reading->told->warnings,
                     "SVC_LANGUAGES_DIR: %s" SUFFIX
                     " lacks %zu of the %zu texts, which are shown in English: %s%s; add them",
                     tag, missing, json_object_size(english), names != NULL ? names : "",
                     missing > NAMED_MAX ? ", ..." : "");
}

bool
texts_load(TALLOC_CTX *mem, const struct settings *cfg, const struct texts_told *told, json_t **ret)
{
    struct texts_reading reading = {.mem = talloc_new(mem), .told = told};
    const char *shipped = talloc_asprintf(mem, "%s/www/languages", cfg->data_dir), *tag;
    json_t *texts;
    reading.found = jsonx_own(mem, json_object());
    if (reading.mem == NULL || reading.found == NULL || shipped == NULL)
        return false;
    texts_read_dir(&reading, shipped, false);
    if (!reading.failed && cfg->languages_dir != NULL)
        texts_read_dir(&reading, cfg->languages_dir, true);
    if (!reading.failed)
        json_object_foreach (reading.found, tag, texts)
            texts_complete(&reading, tag, texts);
    talloc_free(reading.mem);
    *ret = reading.found;
    return !reading.failed;
}
