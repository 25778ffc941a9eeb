/* Package declarations and paths of rules. An input is a rule's text; as far as it is one, also a
 * path. */
#include "config.h"

#include <string.h>

#include "fuzz/fuzz.h"
#include "policy/rows/rule.h"

/* Check that a package name consists of words that are not empty. */
static void
check_name(const char *name)
{
    char before = '.';
    MUST(strlen(name) <= RULE_PACKAGE_MAX);
    for (const char *c = name; *c != '\0'; before = *c++)
        MUST(*c >= ' ' && *c <= '~' && strchr("\"\\`", *c) == NULL && (*c != '.' || before != '.'));
    MUST(before != '.' && strcmp(name, "_") != 0 && strncmp(name, "_.", 2) != 0);
}

/* Comments and blanks in front change nothing; the name itself, where it is made of words, is
 * read back. */
static void
check_package(TALLOC_CTX *mem, const char *content)
{
    const char *name = "untouched", *again = "untouched";
    enum rule_package kind = rule_package(mem, content, &name);
    const char *longer = talloc_asprintf(mem, "# package x\r\n\t #\n%s", content);
    MUST((kind == RULE_PACKAGE_NAMED) == (strcmp(name, "untouched") != 0)
         || strstr(content, "untouched") != NULL);
    if (kind == RULE_PACKAGE_NAMED)
        check_name(name);
    if (strncmp(content, "\xef\xbb\xbf", 3) != 0) {
        MUST(rule_package(mem, longer, &again) == kind);
        MUST(strcmp(again, name) == 0);
    }
    if (kind == RULE_PACKAGE_NONE) {
        const char *after = content + (strncmp(content, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
        after += strspn(after, " \t\r\n");
        MUST(strncmp(after, "package ", 8) != 0 && strncmp(after, "package\n", 8) != 0);
    }
}

static void
check_path(const char *path)
{
    if (rule_path_fault(path) != NULL)
        return;
    size_t length = strlen(path);
    MUST(length > 0 && length <= RULE_PATH_MAX && path[0] != '/' && strstr(path, "//") == NULL);
    MUST(strstr(path, "/../") == NULL && strncmp(path, "../", 3) != 0);
    MUST(strstr(path, "/./") == NULL && strncmp(path, "./", 2) != 0);
    MUST(strpbrk(path, "\\\n\r\t") == NULL);
    bool cedar = length > 6 && strcmp(path + length - 6, ".cedar") == 0;
    MUST(cedar || (length > 5 && strcmp(path + length - 5, ".rego") == 0));
    MUST(strcmp(rule_kind(path), cedar ? "cedar" : "rego") == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *text = talloc_strndup(mem, (const char *) data, size);
    MUST(text != NULL);
    check_package(mem, text);
    check_path(text);
    talloc_free(mem);
    return 0;
}
