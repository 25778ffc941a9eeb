/* Values in files of their own: SVC_NAME_FILE=PATH stands for SVC_NAME and the text of that file,
 * as container platforms hand out secrets. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/settings/settings_private.h"

#define SUFFIX "_FILE"

/* Room for the longest value, a line break of two octets and one octet more, which tells that the
 * file is longer. */
#define TEXT_ROOM (LINE_MAXIMUM + 3)

const struct setting *
settings_find_file(const char *name)
{
    char wanted[128];
    size_t length = strlen(name), suffix = strlen(SUFFIX);
    if (length <= suffix || length - suffix >= sizeof(wanted)
        || strcmp(name + length - suffix, SUFFIX) != 0)
        return NULL;
    memcpy(wanted, name, length - suffix);
    wanted[length - suffix] = '\0';
    return settings_find(wanted);
}

/* Open a regular file; the links of a mounted secret are followed. A pipe would block the start. */
static int
open_regular(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || (fstat(fd, &about) == 0 && S_ISREG(about.st_mode)))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

/* Read at most `room` octets, and close the file. -1 with errno if the file cannot be read. */
static ssize_t
read_text(int fd, char *text, size_t room)
{
    size_t length = 0;
    ssize_t got = 0;
    if (fd < 0)
        return -1;
    while (length < room && (got = read(fd, text + length, room - length)) > 0)
        length += (size_t) got;
    int fault = errno;
    close(fd);
    errno = fault;
    return got < 0 ? -1 : (ssize_t) length;
}

/* Cut the line break at the end, and return why the text is no value, or NULL. */
static const char *
value_fault(char *text, size_t length)
{
    if (length > 0 && text[length - 1] == '\n')
        length--;
    if (length > 0 && text[length - 1] == '\r')
        length--;
    text[length] = '\0';
    if (length > LINE_MAXIMUM)
        return "is longer than 4094 octets; shorten it";
    if (strlen(text) != length)
        return "contains a NUL octet; delete it";
    if (strpbrk(text, "\r\n") != NULL)
        return "has more than one line; delete all but the value";
    return NULL;
}

void
settings_set_file(TALLOC_CTX *mem, struct settings *cfg, const char *name, const char *path,
                  const char *origin, struct problems *problems)
{
    char text[TEXT_ROOM + 1];
    const struct setting *row = settings_find_file(name);
    if (row == NULL)
        return;
    const bool named = strcmp(origin, "environment") != 0;
    const char *from =
        talloc_asprintf(cfg, "%s%s%s", named ? origin : "", named ? ": " : "", row->name);
    /* A relative path is refused: the working directory of whoever calls authzctl would choose the
     * file. */
    int fd = path[0] == '/' ? open_regular(path) : -1;
    if (fd >= 0) /* Set the value although the file is at fault; otherwise the setting would be
                    reported as missing too. */
        settings_file_is_fit(mem, from, path, fd, row->type == SETTING_SECRET, problems);
    ssize_t length = path[0] == '/' ? read_text(fd, text, TEXT_ROOM) : 0;
    const char *why = path[0] != '/' ? "must have an absolute path"
                      : length >= 0  ? value_fault(text, (size_t) length)
                                     : NULL;
    if (length < 0)
        problems_add(mem, problems,
                     "%s: cannot read %s: %s; set %s to a file that the service can read", from,
                     path, errno == EINVAL ? "it is not a regular file" : strerror(errno), name);
    else if (why != NULL)
        problems_add(mem, problems, "%s: the file %s, which %s names, %s", from, path, name, why);
    else {
        settings_set(mem, cfg, row, text, named ? origin : talloc_strdup(cfg, path), problems);
        cfg->value_file[row - settings_table] = talloc_strdup(cfg, path);
    }
    explicit_bzero(text, sizeof(text));
}
