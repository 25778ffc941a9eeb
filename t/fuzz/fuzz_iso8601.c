/* Times: what is read lies in the stated years and comes back. */
#include "config.h"

#include <string.h>

#include "base/iso8601.h"
#include "fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[ISO8601_MS_SIZE];
    int64_t ms;
    int64_t again;

    if (iso8601_parse((const char *) data, size, &ms) != AZ_OK)
        return 0;
    MUST(size >= ISO8601_SIZE - 1 && size <= 35);
    MUST(iso8601_format_ms(ms, text) == AZ_OK);
    MUST(iso8601_parse(text, strlen(text), &again) == AZ_OK && again == ms);
    return 0;
}
