#include "config.h"

#include "gateway/upstream/refusal.h"

enum upstream_refusal_step
upstream_refusal_next(const struct upstream_refusal *refusal)
{
    if (refusal->shown && refusal->bound)
        return refusal->repeatable && !refusal->renewed ? REFUSAL_AGAIN : REFUSAL_REPLACE;
    if (refusal->status != 401)
        return REFUSAL_END;
    if (refusal->shown && refusal->renewable && !refusal->renewed)
        return refusal->repeatable ? REFUSAL_AGAIN : REFUSAL_REPLACE;
    return refusal->bound || refusal->personal ? REFUSAL_END : REFUSAL_END_COUNT;
}
