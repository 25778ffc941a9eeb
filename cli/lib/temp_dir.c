#include "config.h"

#include "cli/lib/temp_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/lib/dir.h"
#include "cli/lib/output.h"

bool
temp_dir_make(const struct cli *cli, struct temp_dir *ret)
{
    const char *base = getenv("TMPDIR");
    char *path = talloc_asprintf(cli->mem, "%s/authzctl-test.XXXXXX",
                                 base != NULL && *base == '/' ? base : "/tmp");
    *ret = (struct temp_dir){.cli = cli, .root = -1};
    if (path == NULL || mkdtemp(path) == NULL) {
        output_error("%s: %s: %s; set TMPDIR to another directory", cli->path,
                     path != NULL ? path : "a temporary directory",
                     path != NULL ? strerror(errno) : "out of memory");
        return false;
    }
    ret->path = path;
    ret->root = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (ret->root < 0)
        output_error("%s: %s: %s", cli->path, path, strerror(errno));
    return ret->root >= 0;
}

bool
temp_dir_put(const struct temp_dir *dir, const char *path, const char *text, size_t length)
{
    const char *why = "out of memory";
    if (path != NULL && text != NULL
        && dir_write(dir->cli->mem, dir->root, path, text, length, &why) != DIR_FAILED)
        return true;
    output_error("%s: %s/%s: %s", dir->cli->path, dir->path, path != NULL ? path : "a file", why);
    return false;
}

void
temp_dir_remove(struct temp_dir *dir)
{
    if (dir->root >= 0)
        close(dir->root);
    if (dir->path != NULL && !dir_remove(dir->path))
        output_error("%s: %s: %s; delete it by hand", dir->cli->path, dir->path, strerror(errno));
    dir->root = -1;
    dir->path = NULL;
}
