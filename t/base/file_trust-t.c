/* Owner and mode of files that decide what a program does: every mode, and owners. */
#include "config.h"

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/file_trust.h"
#include "tap.h"

/* An account and a group that are not ours. */
#define STRANGER 54321

static const char *
fault(TALLOC_CTX *mem, uid_t owner, gid_t group, mode_t mode, bool secret)
{
    struct stat about = {.st_uid = owner, .st_gid = group, .st_mode = mode};
    return file_trust_fault(mem, "FILE", &about, secret);
}

/* Each of the 512 modes: of a secret, others have no right and the group may read; of another file,
 * neither may write. */
static void
test_modes(TALLOC_CTX *mem)
{
    for (unsigned secret = 0; secret < 2; secret++)
        for (unsigned owner = 0; owner < 2; owner++) {
            unsigned wrong = 0;
            for (mode_t mode = 0; mode < 01000; mode++) {
                bool bad = (mode & (secret != 0 ? 0027 : 0022)) != 0;
                const char *why =
                    fault(mem, owner != 0 ? geteuid() : 0, getegid(), S_IFREG | mode, secret != 0);
                wrong += (why != NULL) != bad;
            }
            is_int(wrong, 0, "%s of %s: every mode", secret != 0 ? "a secret" : "another file",
                   owner != 0 ? "this account" : "root");
        }
}

static void
test_owners(TALLOC_CTX *mem)
{
    const char *why = fault(mem, STRANGER, getegid(), S_IFREG | 0600, true);
    ok(why != NULL && strncmp(why, "FILE belongs to another account (number 54321)", 46) == 0,
       "a secret of a stranger is refused");
    ok(fault(mem, STRANGER, getegid(), S_IFREG | 0644, false) != NULL, "... another file, too");
    ok(fault(mem, STRANGER, getegid(), S_IFIFO | 0600, true) != NULL, "... and a pipe");
    why = fault(mem, geteuid(), STRANGER, S_IFREG | 0640, true);
    ok(why != NULL && strstr(why, "; run chmod 600 FILE") != NULL,
       "a group that this account is not in may not read a secret");
    ok(fault(mem, geteuid(), STRANGER, S_IFREG | 0644, false) == NULL, "... but another file");
    ok(fault(mem, 0, getegid(), S_IFREG | 0640, true) == NULL, "0640 root:authz is fine");
    why = fault(mem, 0, getegid(), S_IFREG | 0644, true);
    ok(why != NULL && strstr(why, "; run chmod 640 FILE") != NULL,
       "... of 0644, root is told to keep the group");
    why = fault(mem, geteuid(), getegid(), S_IFREG | 0644, true);
    ok(why != NULL && strstr(why, "; run chmod 600 FILE") != NULL,
       "... and an account that it needs no group: all customers of a host may be in one");
    ok(fault(mem, 0, 0, S_IFCHR | 0666, true) == NULL, "/dev/null passes");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    if (geteuid() == 0)
        ok(fault(mem, STRANGER, STRANGER, S_IFREG | 0640, true) == NULL
               && fault(mem, STRANGER, STRANGER, S_IFREG | 0644, true) != NULL,
           "root takes the file of the account that it works as, with a fit mode");
    bool root = geteuid() == 0;
    if (root && (setegid(65534) != 0 || seteuid(65534) != 0))
        return 1;
    test_modes(mem);
    test_owners(mem);
    /* The search for leaks at the end traces this process, which another account must not. */
    if (root && (seteuid(0) != 0 || setegid(0) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0))
        return 1;
    talloc_free(mem);
    return done();
}
