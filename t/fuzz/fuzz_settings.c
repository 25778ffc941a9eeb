/* authz.conf: whatever the file holds, every setting stays within the limits of its row. */
#include "config.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/settings/settings.h"
#include "base/words.h"
#include "fuzz/fuzz.h"

extern char **environ;

static void
check_number(const struct setting *row, const void *at)
{
    long number;
    memcpy(&number, at, sizeof(number));
    MUST(number >= row->minimum && number <= row->maximum);
}

static void
check_row(TALLOC_CTX *mem, const struct settings *cfg, const struct setting *row)
{
    const void *at = (const char *) cfg + row->offset;
    const char *text = settings_text(mem, cfg, row);
    bool chosen = row->choices == NULL;

    MUST(text != NULL);
    if (setting_is_number(row))
        check_number(row, at);
    if (row->type == SETTING_ISSUER)
        MUST(strncmp(text, "http", 4) == 0 && strpbrk(text, "?#\"\\<>@ \t\r\n") == NULL
             && text[strlen(text) - 1] != '/');
    if (row->type == SETTING_SECRET)
        MUST(*text == '\0' || strcmp(text, "********") == 0);
    if (row->type == SETTING_LIST) {
        const char *const *list = *(const char *const *const *) at;
        chosen = *list != NULL;
        for (; *list != NULL; list++)
            MUST(words_has(row->choices, *list));
    }
    for (const char *const *word = row->choices; word != NULL && *word != NULL; word++)
        chosen = chosen || strcmp(*word, text) == 0;
    MUST(chosen);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *nothing[] = {NULL};
    TALLOC_CTX *mem = talloc_new(NULL);
    struct problems problems = {NULL, 0};
    int fd = memfd_create("authz.conf", MFD_CLOEXEC);
    char path[64];

    environ = nothing;
    MUST(fd >= 0 && fchmod(fd, 0600) == 0 && write(fd, data, size) == (ssize_t) size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    struct settings *cfg = settings_load(mem, path, &problems);
    MUST(cfg != NULL);
    for (const struct setting *row = settings_table; row->name != NULL; row++)
        check_row(mem, cfg, row);
    size_t before = problems.count;
    settings_check(mem, cfg, &problems);
    MUST(problems.count > before
         || (*cfg->credential_key != '\0' && *cfg->admin_api_key != '\0'
             && *cfg->admin_pepper != '\0' && *cfg->bundle_api_key != '\0'));
    for (size_t i = 0; i < problems.count; i++)
        MUST(*problems.line[i] != '\0' && strpbrk(problems.line[i], "\r\n") == NULL);
    close(fd);
    talloc_free(mem);
    return 0;
}
