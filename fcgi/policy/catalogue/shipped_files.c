#include "config.h"

#include "policy/catalogue/shipped_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/words.h"

static char *
full_path(struct op *op, const char *name)
{
    return talloc_asprintf(op->mem, "%s/policy/%s", op->az->cfg->data_dir, name);
}

static enum az_status
shipped_fail(struct op *op, const char *name, const char *why)
{
    return op_fail(op, AZ_SERVER_ERROR, NULL, "SVC_DATA_DIR: %s/policy/%s: %s",
                   op->az->cfg->data_dir, name, why);
}

/* Read a whole file; return its fault, or NULL. fopen() also opens a folder; reading that fails. */
static const char *
read_whole(struct op *op, const char *path, const char **ret)
{
    char *text = path != NULL ? talloc_array(op->mem, char, SHIPPED_FILE_MAX + 1) : NULL;
    FILE *file = text != NULL ? fopen(path, "re") : NULL;
    if (file == NULL)
        return text != NULL ? strerror(errno) : "out of memory";
    errno = 0;
    size_t length = fread(text, 1, SHIPPED_FILE_MAX + 1, file);
    const char *why = ferror(file) ? strerror(errno) : NULL;
    fclose(file);
    if (why == NULL && length > SHIPPED_FILE_MAX)
        why = "is too large";
    if (why == NULL && memchr(text, '\0', length) != NULL)
        why = "contains a NUL";
    if (why != NULL) {
        talloc_free(text);
        return why;
    }
    text[length] = '\0';
    /* Give back what the file does not need: the walk reads many files. */
    char *fitted = talloc_realloc(op->mem, text, char, (unsigned) length + 1);
    *ret = fitted != NULL ? fitted : text;
    return NULL;
}

enum az_status
shipped_text(struct op *op, const char *name, const char **ret)
{
    const char *why = read_whole(op, full_path(op, name), ret);
    return why == NULL ? AZ_OK : shipped_fail(op, name, why);
}

enum az_status
shipped_json(struct op *op, const char *name, json_t **ret)
{
    const char *text, *why = "out of memory";
    enum az_status st = shipped_text(op, name, &text);
    if (st == AZ_OK
        && jsonx_parse(op->mem, text, strlen(text), SHIPPED_DEPTH_MAX, ret, &why) != AZ_OK)
        st = shipped_fail(op, name, why);
    return st;
}

/* A walk over a folder and its subfolders. */
struct shipped_walk {
    const char *suffix;    /* of the files that count */
    shipped_file_fn *take; /* called for each file */
    void *arg;             /* of take */
    int files;             /* seen */
};

/* Compare by octets; alphasort() compares by the locale. */
static int
compare_entries(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int
is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static enum az_status walk_folder(struct op *op, struct shipped_walk *walk, const char *folder,
                                  int depth);

static enum az_status
walk_entry(struct op *op, struct shipped_walk *walk, const char *name, int depth)
{
    struct stat info;
    const char *path = full_path(op, name), *text;
    if (path == NULL || stat(path, &info) != 0)
        return shipped_fail(op, name, path != NULL ? strerror(errno) : "out of memory");
    if (S_ISDIR(info.st_mode))
        return walk_folder(op, walk, name, depth + 1);
    if (!words_end(name, walk->suffix))
        return AZ_OK;
    if (++walk->files > SHIPPED_FILES_MAX)
        return shipped_fail(op, name, "exceeds the limit of files");
    enum az_status st = shipped_text(op, name, &text);
    return st == AZ_OK ? walk->take(op, walk->arg, name, text) : st;
}

static enum az_status
walk_folder(struct op *op, struct shipped_walk *walk, const char *folder, int depth)
{
    struct dirent **entries = NULL;
    const char *path = full_path(op, folder);
    enum az_status st = AZ_OK;
    if (depth > SHIPPED_FOLDERS_MAX)
        return shipped_fail(op, folder, "is nested too deeply");
    int count = path != NULL ? scandir(path, &entries, is_visible, compare_entries) : -1;
    if (count < 0)
        return shipped_fail(op, folder, path != NULL ? strerror(errno) : "out of memory");
    for (int i = 0; i < count; i++) {
        const char *name = talloc_asprintf(op->mem, "%s/%s", folder, entries[i]->d_name);
        if (st == AZ_OK)
            st = name != NULL ? walk_entry(op, walk, name, depth)
                              : shipped_fail(op, folder, "out of memory");
        free(entries[i]);
    }
    free(entries);
    return st;
}

enum az_status
shipped_each(struct op *op, const char *folder, const char *suffix, shipped_file_fn *take,
             void *arg)
{
    struct shipped_walk walk = {suffix, take, arg, 0};
    return walk_folder(op, &walk, folder, 1);
}
