/* Preloaded into a process, adds the seconds in the file AUTHZ_CLOCK_OFFSET to its time of day. A
 * change of the file is a jump of its clock. The monotonic clock goes on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t
offset(void)
{
    char text[24] = "";
    const char *path = getenv("AUTHZ_CLOCK_OFFSET");
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return 0;
    ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    return length > 0 ? (time_t) strtol(text, NULL, 10) : 0;
}

int
clock_gettime(clockid_t clock, struct timespec *ret)
{
    int (*real)(clockid_t, struct timespec *);
    *(void **) &real = dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(clock, ret);
    if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        ret->tv_sec += offset();
    return status;
}

int
gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
    struct timespec now;
    (void) zone;
    clock_gettime(CLOCK_REALTIME, &now);
    ret->tv_sec = now.tv_sec;
    ret->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t
time(time_t *ret)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (ret != NULL)
        *ret = now.tv_sec;
    return now.tv_sec;
}
