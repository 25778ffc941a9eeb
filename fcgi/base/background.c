#include "config.h"

#include "base/background.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"

/* Lowest priority, and preference of the kernel when memory is short. */
#define NICENESS 19
#define OOM_SCORE "500"

/* Write to a file of /proc; where there is none, the process has no such preference. */
static void
write_file(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return;
    if (write(file, text, strlen(text)) < 0)
        log_text(AZ_SEV_DEBUG, "not written", "%s: %s", path, strerror(errno));
    close(file);
}

void
background_begin(const char *name, size_t memory)
{
    struct rlimit data;
    prctl(PR_SET_NAME, name);
    setpriority(PRIO_PROCESS, 0, NICENESS);
    write_file("/proc/self/oom_score_adj", OOM_SCORE);
#ifndef __SANITIZE_ADDRESS__ /* its shadow counts as memory */
    if (getrlimit(RLIMIT_DATA, &data) == 0 && memory < data.rlim_max) {
        data.rlim_cur = memory;
        setrlimit(RLIMIT_DATA, &data);
    }
#else
    (void) data;
    (void) memory;
#endif
}
