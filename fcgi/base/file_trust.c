#include "config.h"

#include "base/file_trust.h"

#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

/* True if this process is in the group, or root is: a group of root has no strangers, and root
 * cannot know the groups of the service. */
static bool
group_is_ours(gid_t group)
{
    gid_t *list = NULL;
    int count = getgroups(0, NULL);
    bool ours = group == getegid() || group == 0 || geteuid() == 0;
    if (!ours && count > 0 && (list = calloc((size_t) count, sizeof(*list))) != NULL)
        count = getgroups(count, list);
    for (int i = 0; list != NULL && i < count && !ours; i++)
        ours = list[i] == group;
    free(list);
    return ours;
}

/* Return what makes a mode wrong, or NULL. */
static const char *
mode_fault(const struct stat *about, bool secret)
{
    if ((about->st_mode & (secret ? S_IRWXO : S_IWOTH)) != 0)
        return "every account of this host can use it";
    if ((about->st_mode & S_IWGRP) != 0)
        return "its group can change it";
    if (secret && (about->st_mode & S_IRGRP) != 0 && !group_is_ours(about->st_gid))
        return "a group that this account is not in can read it";
    return NULL;
}

/* Return the mode that the file should have, as chmod takes it. The account that owns the file
 * needs no group; of a file of root, the group may be how the service reads it. */
static const char *
better_mode(const struct stat *about, bool secret)
{
    if (!secret)
        return "go-w";
    bool grouped = (about->st_mode & S_IRGRP) != 0 && about->st_uid == 0;
    return grouped && group_is_ours(about->st_gid) ? "640" : "600";
}

const char *
file_trust_fault(TALLOC_CTX *mem, const char *path, const struct stat *about, bool secret)
{
    if (S_ISCHR(about->st_mode) || S_ISDIR(about->st_mode))
        return NULL;
    const uid_t self = geteuid();
    const char *why = mode_fault(about, secret);
    if (self != 0 && about->st_uid != 0 && about->st_uid != self)
        return talloc_asprintf(mem,
                               "%s belongs to another account (number %lu), which can change it; "
                               "run chown root %s, or copy it to a file of your own",
                               path, (unsigned long) about->st_uid, path);
    if (why == NULL)
        return NULL;
    return talloc_asprintf(mem, "%s has mode %04o, so %s; run chmod %s %s", path,
                           (unsigned) (about->st_mode & 07777), why, better_mode(about, secret),
                           path);
}

bool
file_trust_is_waived(void)
{
    const char *text = getenv(FILE_TRUST_WAIVER);
    return text != NULL && strcasecmp(text, "true") == 0;
}
