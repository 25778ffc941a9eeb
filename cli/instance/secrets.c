/* Secrets of the files: names of variables and files, never the secrets themselves (F4). */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "cli/instance/instance.h"
#include "crypto/secret.h"

/* Largest file of a secret, in octets: the longest private key of an upstream is shorter. */
#define SECRET_FILE_MAX 4096

/* Return the object that holds a secret, or NULL. */
static json_t *
secret_holder(const struct instance_secret *row, const json_t *object)
{
    const json_t *holder = row->outer != NULL ? json_object_get(object, row->outer) : object;
    return row->inner != NULL ? json_object_get(holder, row->member)
                              : (json_t *) (uintptr_t) holder;
}

static const char *
secret_member(const struct instance_secret *row)
{
    return row->inner != NULL ? row->inner : row->member;
}

/* Return the secret of an object as the files have it; NULL: absent or null. */
static json_t *
secret_value(const struct instance_secret *row, const json_t *object)
{
    json_t *value = json_object_get(secret_holder(row, object), secret_member(row));
    return value == NULL || json_is_null(value) ? NULL : value;
}

/* True if a variable may be one of the service: files of others must not send its secrets to an
 * upstream. */
static bool
is_our_setting(const char *name)
{
    return strncmp(name, "SVC_", 4) == 0 || strncmp(name, "AUTHZ_", 6) == 0;
}

/* True if a value is {"env": NAME} or {"file": PATH}. */
static bool
is_reference(const json_t *value)
{
    const char *env = json_string_value(json_object_get(value, "env")),
               *file = json_string_value(json_object_get(value, "file"));
    return json_object_size(value) == 1
           && ((env != NULL && *env != '\0' && !is_our_setting(env))
               || (file != NULL && *file != '\0'));
}

bool
instance_has_secret(const struct instance_kind *kind, const json_t *object)
{
    for (size_t i = 0; i < INSTANCE_SECRETS_MAX && kind->secret[i].member != NULL; i++)
        if (secret_value(&kind->secret[i], object) != NULL)
            return true;
    return false;
}

void
instance_check_secrets(struct instance *run, const struct instance_kind *kind, const char *file,
                       const json_t *object)
{
    for (size_t i = 0; i < INSTANCE_SECRETS_MAX && kind->secret[i].member != NULL; i++) {
        const json_t *value = secret_value(&kind->secret[i], object);
        if (value != NULL && !is_reference(value))
            instance_refuse(run,
                            "%s: %s must not be in a file; write {\"env\": NAME}, where NAME is no "
                            "setting (SVC_, AUTHZ_), or {\"file\": PATH}, and change the secret if "
                            "the file was shared",
                            file, secret_member(&kind->secret[i]));
    }
}

/* Refuse a file that other accounts can read, and what is no file. */
static const char *
secret_file_fault(const struct stat *about)
{
    if (!S_ISREG(about->st_mode))
        return "is not a regular file";
    if ((about->st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return "can be read by other accounts; run chmod 600";
    if (about->st_uid != geteuid() && about->st_uid != 0)
        return "belongs to another account";
    return about->st_size > SECRET_FILE_MAX ? "is larger than 4 KiB" : NULL;
}

/* Read an open file into `text`; returns its length, 0 with a reason. */
static size_t
secret_read_open(int fd, char text[SECRET_FILE_MAX + 1], const char **ret_why)
{
    struct stat about;
    size_t length = 0;
    ssize_t got = 0;
    if (fstat(fd, &about) != 0)
        *ret_why = strerror(errno);
    else
        *ret_why = secret_file_fault(&about);
    while (*ret_why == NULL && length <= SECRET_FILE_MAX
           && (got = read(fd, text + length, SECRET_FILE_MAX + 1 - length)) > 0)
        length += (size_t) got;
    if (*ret_why == NULL && got < 0)
        *ret_why = strerror(errno);
    else if (*ret_why == NULL && length > SECRET_FILE_MAX)
        *ret_why = "is larger than 4 KiB";
    return *ret_why == NULL ? length : 0;
}

/* Return the secret in a file, without the line feed at its end, or NULL with a reason. No link is
 * followed: it could lead to a file that somebody else chose. */
static char *
secret_read_file(TALLOC_CTX *mem, const char *name, const char **ret_why)
{
    char text[SECRET_FILE_MAX + 1];
    int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        *ret_why = errno == ELOOP ? "is a symbolic link; name the file itself" : strerror(errno);
        return NULL;
    }
    size_t length = secret_read_open(fd, text, ret_why);
    close(fd);
    length -= length > 0 && text[length - 1] == '\n';
    char *secret = *ret_why == NULL ? secret_copy(mem, text, length) : NULL;
    secret_wipe(text, sizeof(text));
    return secret;
}

/* Return the secret that a reference names, or NULL with a reason. */
static char *
secret_read(TALLOC_CTX *mem, const json_t *reference, const char **ret_name, const char **ret_why)
{
    const char *env = json_string_value(json_object_get(reference, "env")),
               *value = env != NULL ? getenv(env) : NULL;
    *ret_why = NULL;
    *ret_name = env != NULL ? env : json_string_value(json_object_get(reference, "file"));
    if (env == NULL)
        return *ret_name != NULL ? secret_read_file(mem, *ret_name, ret_why) : NULL;
    if (value == NULL)
        *ret_why = "is not set in the environment";
    return value != NULL ? secret_copy(mem, value, strlen(value)) : NULL;
}

/* Put one secret in the place of its name. */
static bool
secret_fill(struct instance *run, const struct instance_secret *row, json_t *object)
{
    const json_t *reference = secret_value(row, object);
    const char *name = NULL, *why = NULL;
    if (reference == NULL)
        return true;
    if (!is_reference(reference)) {
        instance_refuse(run, "%s is no {\"env\": NAME} or {\"file\": PATH}", secret_member(row));
        return false;
    }
    char *secret = secret_read(run->cli->mem, reference, &name, &why);
    if (secret != NULL && *secret == '\0')
        why = "is empty";
    else if (secret != NULL && !utf8_valid(secret, strlen(secret)))
        why = "is not UTF-8";
    if (secret == NULL || why != NULL)
        instance_refuse(run, "%s: %s", name != NULL ? name : secret_member(row),
                        why != NULL ? why : "out of memory");
    bool done =
        secret != NULL && why == NULL
        && json_object_set_new(secret_holder(row, object), secret_member(row), json_string(secret))
               == 0;
    talloc_free(secret);
    return done;
}

int
instance_fill_secrets(struct instance *run, const struct instance_kind *kind, json_t *object,
                      const char **ret_text)
{
    struct jsonx_build secrets = {jsonx_own(run->cli->mem, json_object()), false};
    *ret_text = NULL;
    if (!instance_has_secret(kind, object))
        return CLI_OK;
    for (size_t i = 0; i < INSTANCE_SECRETS_MAX && kind->secret[i].member != NULL; i++) {
        const struct instance_secret *row = &kind->secret[i];
        if (!secret_fill(run, row, object))
            return CLI_FAILED;
        json_t *value = secret_value(row, object);
        if (value != NULL)
            jsonx_set(&secrets, row->member, json_incref(value));
    }
    *ret_text = secrets.lost ? NULL : jsonx_dump_sorted(run->cli->mem, secrets.value);
    return *ret_text != NULL ? CLI_OK : output_no_memory(run->cli);
}

void
instance_wipe_secrets(const struct instance_kind *kind, const json_t *object)
{
    for (size_t i = 0; i < INSTANCE_SECRETS_MAX && kind->secret[i].member != NULL; i++) {
        const json_t *value = secret_value(&kind->secret[i], object);
        if (json_is_string(value))
            secret_wipe((void *) (uintptr_t) json_string_value(value), json_string_length(value));
    }
}
