/* Templates of pages. An input is a template; what is taken is filled with hostile values. */
#include "config.h"

#include <string.h>

#include "fuzz/fuzz.h"
#include "http/page/template.h"

static const char *const names[] = {"a", "b", "list", "list.a", NULL};

/* A marker that no surrounding text can hold, around characters that break out if they are not
 * escaped. */
static const char hostile[] = "\x02<>\"'&\x02";
static const char harmless[] = "\x02&lt;&gt;&quot;&#39;&amp;\x02";

/* Each value stands there in its escaped form, or not at all. */
static void
check_output(const char *text)
{
    for (const char *at = text; (at = strchr(at, hostile[0])) != NULL; at += strlen(harmless))
        MUST(strncmp(at, harmless, strlen(harmless)) == 0);
}

static enum az_status
check_style(void *arg, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        MUST(text[i] != '\r' && text[i] != '\0');
    ++*(unsigned *) arg;
    return AZ_OK;
}

static void
fill(TALLOC_CTX *mem, const struct templates *set, const json_t *texts)
{
    json_t *values =
        json_pack("{s:s,s:b,s:[{s:s},{}]}", "a", hostile, "b", 1, "list", "a", hostile);
    const char *why = NULL;
    struct buf out;
    unsigned styles = 0;
    buf_init(&out, mem, TEMPLATE_OUTPUT_MAX);
    enum az_status st = templates_fill(set, "t", values, texts, &out, &why);
    MUST(st == AZ_OK || (st == AZ_INVALID && why != NULL));
    if (st == AZ_OK && out.data != NULL)
        check_output(out.data);
    MUST(templates_each_style(set, "t", check_style, &styles) == AZ_OK);
    buf_done(&out);
    json_decref(values);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct templates *set = templates_new(mem);
    const char *why = NULL;
    MUST(set != NULL);
    if (memchr(data, hostile[0], size) != NULL) {
        talloc_free(mem);
        return 0;
    }
    json_t *texts = json_pack("{s:s,s:s}", "a", "<{a}> & {b", "list", "{a}{a}");
    enum az_status st = templates_add(set, "t", "t", (const char *) data, size, &why);
    if (st == AZ_OK)
        st = templates_check(set, "t", names, texts, &why);
    MUST(st == AZ_OK || (st == AZ_INVALID && why != NULL));
    if (st == AZ_OK)
        fill(mem, set, texts);
    json_decref(texts);
    talloc_free(mem);
    return 0;
}
