/*
 * main() for a fuzz entry that is not built with libFuzzer: feeds it every file of its corpus, and
 * every beginning of the short ones. Speaks TAP, so that make check runs it as a test.
 *
 *   fuzz_<parser> [FILE-OR-DIRECTORY]...      default: t/fuzz/corpus/<parser>
 */
#include "config.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz/fuzz.h"

/* Larger files are no seeds. */
#define FILE_MAX (1024 * 1024)

/* Up to here each beginning is an input of its own. */
#define SHORT_MAX 512

static unsigned files, inputs;

/* In memory of exactly its size, so that a sanitizer sees an octet read too many. */
static void
feed(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    MUST(copy != NULL);
    if (size > 0)
        memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    inputs++;
}

static void
feed_file(const char *path)
{
    uint8_t *data = malloc(FILE_MAX);
    FILE *file = fopen(path, "rb");

    MUST(data != NULL && file != NULL);
    size_t size = fread(data, 1, FILE_MAX, file);
    fclose(file);
    files++;
    feed(data, size);
    for (size_t cut = 0; size <= SHORT_MAX && cut < size; cut++)
        feed(data, cut);
    free(data);
}

static void
feed_path(const char *path)
{
    struct stat info;
    struct dirent **entries;

    MUST(stat(path, &info) == 0);
    if (!S_ISDIR(info.st_mode)) {
        feed_file(path);
        return;
    }
    int count = scandir(path, &entries, NULL, alphasort);
    MUST(count >= 0);
    for (int i = 0; i < count; i++) {
        char inner[4096];
        snprintf(inner, sizeof(inner), "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            feed_path(inner);
        free(entries[i]);
    }
    free(entries);
}

/* The corpus of a program by its name: what follows "fuzz_". */
static void
feed_own_corpus(const char *program)
{
    const char *srcdir = getenv("srcdir");
    const char *name = strstr(program, "fuzz_");
    char path[4096];

    for (const char *next = name; next != NULL; next = strstr(next + 1, "fuzz_"))
        name = next;
    MUST(name != NULL);
    snprintf(path, sizeof(path), "%s/t/fuzz/corpus/%s", srcdir ? srcdir : ".",
             name + strlen("fuzz_"));
    feed_path(path);
}

int
main(int argc, char **argv)
{
    printf("1..1\n");
    fflush(stdout);
    if (argc < 2)
        feed_own_corpus(argv[0]);
    for (int i = 1; i < argc; i++)
        feed_path(argv[i]);
    printf("%sok 1 - %u inputs of %u corpus files replayed\n", files > 0 ? "" : "not ", inputs,
           files);
    return files == 0;
}
