/* Mapped files have their blocks before they are mapped: whoever fills the file system ends no
 * process. The second half needs root, who mounts a small file system. */
#include "config.h"

#include "host/file.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env.h"
#include "tap.h"

#define MAGIC 0x6d61707065642d74ULL
#define SIZE (300 << 10)
/* Octets of the small file system: room for one file of SIZE and not for a second. */
#define SMALL "size=512k,mode=0700"

static enum az_status
map(TALLOC_CTX *mem, const char *dir, const char *name, struct host_file **ret,
    const char **ret_why)
{
    *ret = NULL;
    *ret_why = "";
    return host_file_open(mem, dir, name, MAGIC, SIZE, ret, ret_why);
}

static bool
has_its_blocks(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_size == SIZE && st.st_blocks * 512 >= st.st_size;
}

static void
test_blocks(TALLOC_CTX *mem)
{
    const char *dir = env_directory(mem), *why;
    char *path = talloc_asprintf(mem, "%s/new", dir);
    struct host_file *mapped;
    is_int(map(mem, dir, "new", &mapped, &why), AZ_OK, "a new file is mapped");
    ok(has_its_blocks(path), "... and has the blocks of all its octets");
    memset((char *) mapped->at + SIZE - 4, 'x', 4);
    talloc_free(mapped);
    /* As an earlier version made it: a hole behind the head. */
    char *old = talloc_asprintf(mem, "%s/old", dir);
    struct host_head head = {.magic = MAGIC, .key = "kept"};
    int fd = open(old, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ok(pwrite(fd, &head, sizeof(head), 0) == (ssize_t) sizeof(head) && ftruncate(fd, SIZE) == 0
           && !has_its_blocks(old),
       "a file that has none");
    close(fd);
    is_int(map(mem, dir, "old", &mapped, &why), AZ_OK, "... is mapped");
    ok(has_its_blocks(old) && memcmp(((struct host_head *) mapped->at)->key, "kept", 5) == 0,
       "... with its blocks and what it held");
}

/* Fill the file system to the last octet. */
static void
fill(const char *dir)
{
    char path[4096], zeros[4096] = "";
    snprintf(path, sizeof(path), "%s/filler", dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    while (write(fd, zeros, sizeof(zeros)) > 0)
        ;
    close(fd);
}

/* In a process of its own: write to every page of the file. */
static int
write_all(const struct host_file *mapped)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        memset((char *) mapped->at + sizeof(struct host_head), 'x',
               SIZE - sizeof(struct host_head));
        _exit(0);
    }
    waitpid(pid, &status, 0);
    return status;
}

static void
test_full(TALLOC_CTX *mem)
{
    const char *dir = env_directory(mem), *why;
    struct host_file *mapped, *second;
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0
        || mount("tmpfs", dir, "tmpfs", 0, SMALL) != 0) {
        ok(true, "a full file system # SKIP needs root, who may mount one");
        return;
    }
    is_int(map(mem, dir, "first", &mapped, &why), AZ_OK, "room for one file");
    is_int(map(mem, dir, "second", &second, &why), AZ_SERVER_ERROR, "none for a second: refused");
    is_str(why,
           talloc_asprintf(mem,
                           "SVC_RUNTIME_DIR: %s has no room for the file `second` of %d octets; "
                           "free as much on its file system, or set this to a directory of another "
                           "one",
                           dir, SIZE),
           "... the reason names setting, directory, file, octets and remedy");
    ok(access(talloc_asprintf(mem, "%s/second", dir), F_OK) != 0, "... and no part of it is left");
    fill(dir);
    is_int(write_all(mapped), 0, "a full file system ends no process that writes to the first");
    struct host_file *again;
    is_int(map(mem, dir, "first", &again, &why), AZ_OK, "... and the next process maps it");
    talloc_free(mapped);
    talloc_free(again);
    umount2(dir, MNT_DETACH);
}

/* Memory without a name (memfd_create(2)). */
static void
test_memory(TALLOC_CTX *mem)
{
    struct host_file *memory = host_file_memory(mem, "authz-test", SIZE);
    char *last = memory != NULL ? (char *) memory->at + SIZE - 1 : NULL;
    if (!ok(last != NULL && *last == 0, "memory without a name is 0"))
        return;
    pid_t pid = fork();
    if (pid == 0) {
        *last = 'x';
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    is_int(*last, 'x', "... and a process that is forked after it shares it");
    ok(ftruncate(memory->fd, 0) != 0 && ftruncate(memory->fd, 2 * SIZE) != 0,
       "... and no process changes its size");
    talloc_free(memory);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_blocks(mem);
    test_memory(mem);
    test_full(mem);
    talloc_free(mem);
    return done();
}
