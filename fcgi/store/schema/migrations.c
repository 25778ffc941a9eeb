#include "config.h"

#include "store/schema/migrations.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/settings/settings.h"
#include "base/words.h"

/* A migration is a page or two of SQL. */
#define FILE_MAX (1 << 20)
#define MIGRATIONS_MAX 999
/* Start of the line that says what a migration does. */
#define PLAN_START "-- plan: "

static int
is_migration(const struct dirent *entry)
{
    return isdigit((unsigned char) entry->d_name[0]) && words_end(entry->d_name, ".sql");
}

/* Take the line that says what the migration does; return what is behind it. */
static const char *
take_plan(TALLOC_CTX *mem, const char *text, const char **ret)
{
    const char *end =
        strncmp(text, PLAN_START, strlen(PLAN_START)) == 0 ? strchr(text, '\n') : NULL;
    *ret = NULL;
    if (end == NULL)
        return text;
    text += strlen(PLAN_START);
    *ret = talloc_strndup(mem, text, (size_t) (end - text));
    return end + 1;
}

static enum az_status
migration_read(struct op *op, const char *dir, const char *name, struct migration *ret)
{
    char *path = talloc_asprintf(op->mem, "%s/%s", dir, name);
    FILE *file = fopen(path, "re");
    char *text = file != NULL ? talloc_zero_array(op->mem, char, FILE_MAX) : NULL;
    size_t length = text != NULL ? fread(text, 1, FILE_MAX - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    if (length == 0 || length == FILE_MAX - 1)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "%s cannot be read: %s", path, strerror(errno));
    ret->text = text;
    ret->name = talloc_strdup(op->mem, name);
    int64_t version;
    digits_take(name, strlen(name), INT_MAX, &version);
    ret->version = (int) version;
    const char *rest = take_plan(op->mem, text, &ret->plan);
    return sha256_hex(rest, length - (size_t) (rest - text), ret->checksum);
}

enum az_status
migrations_read(struct op *op, struct migration **ret, size_t *ret_count)
{
    char *dir = talloc_asprintf(op->mem, "%s/sql", op->az->cfg->data_dir);
    struct dirent **entries;
    int count = scandir(dir, &entries, is_migration, alphasort);
    struct migration *list = talloc_zero_array(op->mem, struct migration, MIGRATIONS_MAX);
    enum az_status st = AZ_OK;
    if (count <= 0)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "SVC_DATA_DIR: no migrations in %s", dir);
    if (list == NULL || count > MIGRATIONS_MAX)
        st = op_fail(op, AZ_SERVER_ERROR, NULL, "SVC_DATA_DIR: more than %d migrations in %s",
                     MIGRATIONS_MAX, dir);
    for (int i = 0; i < count; i++) {
        if (st == AZ_OK)
            st = migration_read(op, dir, entries[i]->d_name, &list[i]);
        free(entries[i]);
    }
    free(entries);
    *ret = list;
    *ret_count = (size_t) count;
    return st;
}
