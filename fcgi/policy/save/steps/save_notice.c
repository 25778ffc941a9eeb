#include "config.h"

#include "policy/save/steps/save_notice.h"

#include <stdarg.h>

#include "base/clock.h"

void
save_notice(struct op *op, int64_t started, const char *format, ...)
{
    va_list args;
    if (op->watch == NULL || clock_monotonic_ms() - started < SAVE_NOTICE_MS)
        return;
    va_start(args, format);
    const char *what = talloc_vasprintf(op->mem, format, args);
    va_end(args);
    if (what != NULL)
        op->watch->tell(op->watch->arg, what);
}
