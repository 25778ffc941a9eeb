#include "config.h"

#include "policy/save/plan_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

bool
plan_file_write(const char *path, const unsigned char *octets, size_t length)
{
    int file =
        path != NULL ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    size_t done = 0;
    while (file >= 0 && done < length) {
        ssize_t wrote = write(file, octets + done, length - done);
        if (wrote < 0 && errno != EINTR)
            break;
        done += wrote > 0 ? (size_t) wrote : 0;
    }
    bool closed = file >= 0 && close(file) == 0;
    return closed && done == length;
}

char *
plan_file_read(TALLOC_CTX *mem, const char *path, size_t max, size_t *ret_length)
{
    struct stat about;
    int file = path != NULL ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
    char *octets = NULL;
    size_t length = 0;
    if (file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode)
        && (uint64_t) about.st_size <= max
        && (octets = talloc_array(mem, char, (unsigned) about.st_size + 1)) != NULL) {
        ssize_t got = 1;
        while (length < (size_t) about.st_size && (got > 0 || (got < 0 && errno == EINTR))) {
            got = read(file, octets + length, (size_t) about.st_size - length);
            length += got > 0 ? (size_t) got : 0;
        }
        octets[length] = '\0';
        if (length < (size_t) about.st_size)
            TALLOC_FREE(octets);
    }
    if (file >= 0)
        close(file);
    *ret_length = length;
    return octets;
}
