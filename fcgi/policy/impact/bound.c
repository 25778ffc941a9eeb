#include "config.h"

#include "policy/impact/bound.h"

#include <math.h>

/* Steps of the bisection, which leave an error of 2^-50, and of the continued fraction, which takes
 * about the square root of the decisions (5,000,000 at most). */
#define BISECTIONS 50
#define FRACTIONS 100000
#define FRACTION_ERROR 1e-12
/* In place of a divisor that is 0 (modified Lentz). */
#define TINY 1e-300

static double
not_zero(double value)
{
    return fabs(value) < TINY ? TINY : value;
}

/* Return the continued fraction of the incomplete beta function (DLMF 8.17.22), by the modified
 * method of Lentz. */
static double
beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), fraction = d;
    for (int m = 1; m <= FRACTIONS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
               odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / not_zero(1 + even * d);
        c = not_zero(1 + even / c);
        fraction *= d * c;
        d = 1 / not_zero(1 + odd * d);
        c = not_zero(1 + odd / c);
        fraction *= d * c;
        if (fabs(d * c - 1) < FRACTION_ERROR)
            break;
    }
    return fraction;
}

/* Return the regularized incomplete beta function I_x(a, b) for 0 < x < 1. */
static double
beta_regularized(double a, double b, double x)
{
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double
bound_share(int64_t seen, int64_t of)
{
    if (of <= 0 || seen >= of)
        return 1;
    /* So few are seen with the probability 1 - I_x(seen + 1, of - seen) if the share is x. */
    double low = (double) seen / (double) of, high = 1;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        if (beta_regularized((double) seen + 1, (double) (of - seen), middle) < BOUND_CONFIDENCE)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* ---- a sample of rows */

int64_t
bound_estimate(const struct impact_sample *sample, int64_t seen)
{
    return sample->taken > 0
               ? llround((double) seen / (double) sample->taken * (double) sample->rows)
               : 0;
}

/* Return in how many rows of the widest all decisions that were seen have room. */
static int64_t
rows_of(const struct impact_sample *sample, int64_t seen)
{
    return (seen + sample->widest - 1) / sample->widest;
}

int64_t
bound_most(const struct impact_sample *sample, int64_t seen)
{
    double share = bound_share(rows_of(sample, seen), sample->taken);
    return (int64_t) ceil(share * (double) sample->rows * (double) sample->widest);
}

double
bound_sample_share(const struct impact_sample *sample, int64_t seen, int64_t of)
{
    return bound_share(rows_of(sample, seen), of / sample->widest);
}

json_t *
bound_json(const struct impact_sample *sample, int64_t seen)
{
    return json_pack("{s:I,s:I}", "estimate", (json_int_t) bound_estimate(sample, seen), "upper",
                     (json_int_t) bound_most(sample, seen));
}

bool
bound_sample_read(const json_t *result, struct impact_sample *ret)
{
    const json_t *sampled = json_object_get(result, "sampled");
    *ret = (struct impact_sample){
        .rows = json_integer_value(json_object_get(sampled, "selected")),
        .taken = json_integer_value(json_object_get(sampled, "taken")),
        .widest = json_integer_value(json_object_get(sampled, "widest")),
    };
    return sampled != NULL && ret->widest > 0 && json_object_get(result, "estimates") != NULL;
}
