/* Raw characters in the target of a request. */
#include "config.h"

#include "base/raw_uri.h"

#include <stdio.h>
#include <string.h>
#include <talloc.h>

#include "scarce.h"
#include "tap.h"

static TALLOC_CTX *mem;

/* Each of the 255 octets that a text can have, in both parts. */
static void
test_octets(void)
{
    for (int octet = 1; octet < 256; octet++) {
        char text[] = {'a', (char) octet, 'b', '\0'};
        char encoded[8];
        snprintf(encoded, sizeof(encoded), "a%%%02Xb", (unsigned) octet);
        bool both = strchr("\"<>[]^`{|}", octet) != NULL, query = both || octet == '\\';
        is_str(raw_uri_encode(mem, text, RAW_URI_PATH), both ? encoded : text,
               "G3: octet %02x in a path %s", (unsigned) octet, both ? "is encoded" : "stays");
        is_str(raw_uri_encode(mem, text, RAW_URI_QUERY), query ? encoded : text,
               "G3: ... in a query %s", query ? "is encoded" : "stays");
    }
}

static void
test_texts(void)
{
    static const char brackets[] = "filter[status]=open";
    const char *once = raw_uri_encode(mem, brackets, RAW_URI_QUERY);
    is_str(once, "filter%5Bstatus%5D=open", "G3: brackets");
    is_str(raw_uri_encode(mem, once, RAW_URI_QUERY), once, "G3: nothing is encoded twice");
    is_str(raw_uri_encode(mem, "q={\"a\":[1]}", RAW_URI_QUERY), "q=%7B%22a%22:%5B1%5D%7D",
           "G3: JSON");
    is_str(raw_uri_encode(mem, "", RAW_URI_PATH), "", "an empty text");
    is_str(raw_uri_encode(mem, "||", RAW_URI_PATH), "%7C%7C", "nothing else");
    is_str(raw_uri_encode(mem, "%5b[%zz", RAW_URI_QUERY), "%5b%5B%zz",
           "encodings stay, bad ones too");
}

static enum scarce_outcome
encode_once(TALLOC_CTX *limited, void *arg)
{
    const char *text = raw_uri_encode(limited, arg, RAW_URI_QUERY);
    return text == NULL ? SCARCE_FAILED : strcmp(text, "a%7Cb") == 0 ? SCARCE_WHOLE : SCARCE_WRONG;
}

int
main(void)
{
    mem = talloc_new(NULL);
    plan(0);
    test_octets();
    test_texts();
    char raw[] = "a|b";
    struct scarce_count count = scarce_talloc(encode_once, raw, 400, 4);
    scarce_is_seen(&count, "without memory there is no half text");
    talloc_free(mem);
    return done();
}
