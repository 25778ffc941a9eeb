#include "config.h"

#include "tap.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static unsigned planned, ran, failed;

void
plan(unsigned count)
{
    planned = count;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count > 0)
        printf("1..%u\n", count);
}

__attribute__((format(printf, 2, 0))) static bool
report(bool passed, const char *name, va_list args)
{
    ran++;
    failed += !passed;
    printf("%sok %u - ", passed ? "" : "not ", ran);
    vprintf(name, args);
    putchar('\n');
    return passed;
}

#define REPORT(passed, name, result)                                                               \
    do {                                                                                           \
        va_list args;                                                                              \
        va_start(args, name);                                                                      \
        (result) = report((passed), (name), args);                                                 \
        va_end(args);                                                                              \
    } while (0)

bool
ok(bool passed, const char *name, ...)
{
    bool result;
    REPORT(passed, name, result);
    return result;
}

bool
is_int(int64_t seen, int64_t wanted, const char *name, ...)
{
    bool result;
    REPORT(seen == wanted, name, result);
    if (!result)
        printf("#   seen %" PRId64 ", wanted %" PRId64 "\n", seen, wanted);
    return result;
}

bool
is_str(const char *seen, const char *wanted, const char *name, ...)
{
    bool result;
    bool same = seen == NULL || wanted == NULL ? seen == wanted : strcmp(seen, wanted) == 0;
    REPORT(same, name, result);
    if (!result)
        printf("#   seen   '%s'\n#   wanted '%s'\n", seen ? seen : "(null)",
               wanted ? wanted : "(null)");
    return result;
}

static void
print_octets(const char *label, const unsigned char *data, size_t len)
{
    printf("#   %s %zu:", label, len);
    for (size_t i = 0; i < len && i < 64; i++)
        printf(" %02x", data[i]);
    putchar('\n');
}

bool
is_bin(const void *seen, size_t seen_len, const void *wanted, size_t wanted_len, const char *name,
       ...)
{
    bool result;
    bool same = seen_len == wanted_len && (seen_len == 0 || memcmp(seen, wanted, seen_len) == 0);
    REPORT(same, name, result);
    if (!result) {
        print_octets("seen  ", seen, seen_len);
        print_octets("wanted", wanted, wanted_len);
    }
    return result;
}

int
done(void)
{
    if (planned == 0)
        printf("1..%u\n", ran);
    else if (planned != ran)
        printf("# planned %u tests but ran %u\n", planned, ran);
    if (failed > 0)
        printf("# %u of %u tests failed\n", failed, ran);
    return failed > 0 || (planned != 0 && planned != ran) || ran == 0;
}
