/* The trainer's loops for one level of processor: training_loops.h includes this file once for each, with
 *
 *     QZ_AT(name)      the name at this level
 *     QZ_TARGET        the attribute that lets the compiler use the level's instructions
 *     QZ_VECTOR_BYTES  the width of a register
 *     QZ_ROOTS         the square roots of a vector, if there is an instruction for them
 *     QZ_ADD_SHORTS    the sum of two vectors of shorts that stays at the largest and the smallest, likewise
 *
 * A stripe of neurons fills a few vectors, few enough to stay in registers while rows are added. Compilers that know
 * no vectors take single numbers instead.
 */
#if QZ_HAS_VECTORS
typedef int16_t QZ_AT(shorts) __attribute__((vector_size(QZ_VECTOR_BYTES), may_alias));
typedef int32_t QZ_AT(ints) __attribute__((vector_size(QZ_VECTOR_BYTES), may_alias));
typedef float QZ_AT(floats) __attribute__((vector_size(QZ_VECTOR_BYTES), may_alias));
#  define QZ_NO_SHORTS (QZ_AT(shorts)){0}
#  define QZ_NO_FLOATS (QZ_AT(floats)){0}
#else
typedef int16_t QZ_AT(shorts);
typedef float QZ_AT(floats);
#  define QZ_NO_SHORTS 0
#  define QZ_NO_FLOATS 0.0f
#endif
#define QZ_SHORTS QZ_AT(shorts)
#define QZ_FLOATS QZ_AT(floats)
#define QZ_IN_SHORTS (int)(QZ_STRIPE * sizeof(int16_t) / sizeof(QZ_SHORTS))
#define QZ_IN_FLOATS (int)(QZ_STRIPE * sizeof(float) / sizeof(QZ_FLOATS))

/* Choices without branches: values cut to a range; slopes where sums are below 1, else 0; values unless they are tiny. */
#if QZ_HAS_VECTORS
#  define QZ_INTS QZ_AT(ints)
QZ_TARGET QZ_BODY QZ_FLOATS QZ_AT(within)(QZ_FLOATS values, float low, float high)
{
    const QZ_FLOATS zeros = QZ_NO_FLOATS, lows = zeros + low, highs = zeros + high;
    const QZ_INTS are_above = values > lows;
    const QZ_FLOATS raised = (QZ_FLOATS)(((QZ_INTS)values & are_above) | ((QZ_INTS)lows & ~are_above));
    const QZ_INTS are_below = raised < highs;
    return (QZ_FLOATS)(((QZ_INTS)raised & are_below) | ((QZ_INTS)highs & ~are_below));
}

QZ_TARGET QZ_BODY QZ_FLOATS QZ_AT(below_one)(QZ_FLOATS sums, QZ_FLOATS slopes)
{
    const QZ_FLOATS zeros = QZ_NO_FLOATS;
    return (QZ_FLOATS)((QZ_INTS)slopes & (sums < zeros + 1.0f));
}

QZ_TARGET QZ_BODY QZ_FLOATS QZ_AT(not_tiny)(QZ_FLOATS values, float least)
{
    const QZ_FLOATS zeros = QZ_NO_FLOATS;
    return (QZ_FLOATS)((QZ_INTS)values & ((values >= zeros + least) | (values <= zeros - least)));
}
#  undef QZ_INTS
#else
QZ_BODY float QZ_AT(within)(float value, float low, float high) { return value <= low ? low : value < high ? value : high; }
QZ_BODY float QZ_AT(below_one)(float sum, float slope) { return sum < 1.0f ? slope : 0.0f; }
QZ_BODY float QZ_AT(not_tiny)(float value, float least) { return value >= least || value <= -least ? value : 0.0f; }
#endif

/* Left to itself the compiler takes one root after the other, because each of them might set errno. */
QZ_TARGET QZ_BODY QZ_FLOATS QZ_AT(roots)(QZ_FLOATS values)
{
#ifdef QZ_ROOTS
    return (QZ_FLOATS)QZ_ROOTS(values);
#else
    float *each = (float *)&values;
    size_t i;
    for (i = 0; i < sizeof(values) / sizeof(float); i++)
        each[i] = sqrtf(each[i]);
    return values;
#endif
}

/* The activation before it is squared. */
QZ_TARGET QZ_BODY QZ_FLOATS QZ_AT(clamped)(QZ_FLOATS sums) { return QZ_AT(within)(sums, 0.0f, 1.0f); }

/* A stripe's part of an output: sixteen sums on every level, added up by qz_sum_of_parts. */
QZ_TARGET QZ_BODY void QZ_AT(weigh)(float *parts, const float *sums, const float *outputs)
{
    QZ_FLOATS *total = (QZ_FLOATS *)parts;
    const QZ_FLOATS *low = (const QZ_FLOATS *)sums, *high = (const QZ_FLOATS *)(sums + QZ_PARTS);
    const QZ_FLOATS *low_weights = (const QZ_FLOATS *)outputs, *high_weights = (const QZ_FLOATS *)(outputs + QZ_PARTS);
    int i;
    for (i = 0; i < QZ_IN_FLOATS / 2; i++) {
        QZ_FLOATS one = QZ_AT(clamped)(low[i]), other = QZ_AT(clamped)(high[i]);
        total[i] += one * one * low_weights[i] + other * other * high_weights[i];
    }
}

/* One side's sums and their part of the output, with all the precision that there is. */
QZ_TARGET QZ_BODY float QZ_AT(side_output)(const float *weights, const float *outputs, const qz_shape *shape,
                                           const uint16_t *features, int men)
{
    const int neurons = shape->neurons;
    qz_stripe_floats sums;
    qz_part_floats parts = {{0}};
    int start, man, i;
    for (start = 0; start < neurons; start += QZ_STRIPE) {
        QZ_FLOATS total[QZ_IN_FLOATS];
        const QZ_FLOATS *row = (const QZ_FLOATS *)(weights + qz_bias_start(shape) + start);
        for (i = 0; i < QZ_IN_FLOATS; i++)
            total[i] = row[i];
        for (man = 0; man < men; man++) {
            row = (const QZ_FLOATS *)(weights + (size_t)features[man] * neurons + start);
            for (i = 0; i < QZ_IN_FLOATS; i++)
                total[i] += row[i];
        }
        for (i = 0; i < QZ_IN_FLOATS; i++)
            ((QZ_FLOATS *)sums.values)[i] = total[i];
        QZ_AT(weigh)(parts.values, sums.values, outputs + start);
    }
    return qz_sum_of_parts(parts.values);
}

/* The output for one position; QZ_CENTIPAWNS times it is centipawns. */
QZ_TARGET static float QZ_AT(output)(const float *weights, const qz_shape *shape, int output, const uint16_t *mine,
                                     const uint16_t *theirs, int men)
{
    const float *own = weights + qz_output_start(shape) + (size_t)2 * output * shape->neurons;
    return weights[qz_output_bias_at(shape) + output] + QZ_AT(side_output)(weights, own, shape, mine, men)
           + QZ_AT(side_output)(weights, own + shape->neurons, shape, theirs, men);
}

QZ_TARGET QZ_BODY QZ_SHORTS QZ_AT(added)(QZ_SHORTS sums, QZ_SHORTS more)
{
#ifdef QZ_ADD_SHORTS
    return QZ_ADD_SHORTS(sums, more);
#else
    int16_t *each = (int16_t *)&sums;
    const int16_t *other = (const int16_t *)&more;
    size_t i;
    for (i = 0; i < sizeof(sums) / sizeof(int16_t); i++) {
        const int sum = each[i] + other[i];
        each[i] = (int16_t)(sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum);
    }
    return sums;
#endif
}

/* One side's sums of a stripe from the short weights. */
QZ_TARGET QZ_BODY void QZ_AT(sum_short)(float *sums, const int16_t *stripe, const float *biases, const uint16_t *features,
                                        int men)
{
    qz_stripe_shorts stored[2];
    int half, man = 0, i;
    for (half = 0; half < 2; half++) {
        const int end = half || men < QZ_SHORT_ROWS ? men : QZ_SHORT_ROWS;
        QZ_SHORTS total[QZ_IN_SHORTS];
        for (i = 0; i < QZ_IN_SHORTS; i++)
            total[i] = QZ_NO_SHORTS;
        for (; man < end; man++) {
            const QZ_SHORTS *row = (const QZ_SHORTS *)(stripe + (size_t)features[man] * QZ_STRIPE);
            for (i = 0; i < QZ_IN_SHORTS; i++)
                total[i] = QZ_AT(added)(total[i], row[i]);
        }
        for (i = 0; i < QZ_IN_SHORTS; i++)
            ((QZ_SHORTS *)stored[half].values)[i] = total[i];
    }
    for (i = 0; i < QZ_STRIPE; i++)
        sums[i] = biases[i] + (float)(stored[0].values[i] + stored[1].values[i]) * (1.0f / QZ_SHORT_ONE);
}

/* From the slopes at one output of some positions to those at one side's sums of a stripe, which take the sums' place, and
 * the gradients of all that lies between. Every second row is of that side. */
QZ_TARGET QZ_BODY void QZ_AT(spread)(float *rows, const float *slopes, const int *positions, int count,
                                     const float *outputs, float *output_gradient, float *bias_gradient)
{
    QZ_FLOATS weights[QZ_IN_FLOATS], of_outputs[QZ_IN_FLOATS], of_biases[QZ_IN_FLOATS];
    int number, i;
    for (i = 0; i < QZ_IN_FLOATS; i++) {
        weights[i] = 2.0f * ((const QZ_FLOATS *)outputs)[i];
        of_outputs[i] = ((const QZ_FLOATS *)output_gradient)[i];
        of_biases[i] = ((const QZ_FLOATS *)bias_gradient)[i];
    }
    for (number = 0; number < count; number++) {
        const int position = positions[number];
        QZ_FLOATS *row = (QZ_FLOATS *)(rows + (size_t)position * 2 * QZ_STRIPE);
        for (i = 0; i < QZ_IN_FLOATS; i++) {
            QZ_FLOATS value = QZ_AT(clamped)(row[i]), weighed = slopes[position] * value;
            QZ_FLOATS slope = QZ_AT(below_one)(row[i], weighed * weights[i]);
            of_outputs[i] += weighed * value;
            of_biases[i] += slope;
            row[i] = slope;
        }
    }
    for (i = 0; i < QZ_IN_FLOATS; i++) {
        ((QZ_FLOATS *)output_gradient)[i] = of_outputs[i];
        ((QZ_FLOATS *)bias_gradient)[i] = of_biases[i];
    }
}

/* Adds the slopes of all rows in which a feature stands to its gradient. */
QZ_TARGET QZ_BODY void QZ_AT(collect)(float *gradient, const float *rows, const uint16_t *numbers, int count)
{
    QZ_FLOATS total[QZ_IN_FLOATS];
    int number, i;
    for (i = 0; i < QZ_IN_FLOATS; i++)
        total[i] = ((const QZ_FLOATS *)gradient)[i];
    for (number = 0; number < count; number++) {
        const QZ_FLOATS *row = (const QZ_FLOATS *)(rows + (size_t)numbers[number] * QZ_STRIPE);
        for (i = 0; i < QZ_IN_FLOATS; i++)
            total[i] += row[i];
    }
    for (i = 0; i < QZ_IN_FLOATS; i++)
        ((QZ_FLOATS *)gradient)[i] = total[i];
}

/* The sum of the losses of a group's positions, (sigmoid(output) - target)^2; their gradient is added to `gradient`. */
QZ_TARGET static double QZ_AT(learn)(const float *weights, const int16_t *shorts, float *gradient, const qz_shape *shape,
                                     qz_group *group)
{
    const int neurons = shape->neurons, outputs = shape->outputs;
    const size_t at_biases = qz_bias_start(shape), at_outputs = qz_output_start(shape);
    const size_t at_output_biases = qz_output_bias_at(shape);
    const size_t rows_in_stripe = (size_t)2 * QZ_GROUP * QZ_STRIPE;
    const int rows = 2 * group->count;
    double loss = 0.0;
    int start, row, number;
    memset(group->parts, 0, sizeof(group->parts));
    for (start = 0; start < neurons; start += QZ_STRIPE)
        for (row = 0; row < rows; row++) {
            float *sums = group->values + start / QZ_STRIPE * rows_in_stripe + (size_t)row * QZ_STRIPE;
            QZ_AT(sum_short)(sums, shorts + (size_t)start * shape->rows, weights + at_biases + start, group->features[row],
                             group->men[row >> 1]);
            QZ_AT(weigh)(group->parts[row].values, sums,
                         weights + at_outputs + (size_t)(2 * group->outputs[row >> 1] + (row & 1)) * neurons + start);
        }
    for (row = 0; row < rows; row += 2) {
        const size_t at_bias = at_output_biases + group->outputs[row >> 1];
        double output = weights[at_bias] + qz_sum_of_parts(group->parts[row].values)
                        + qz_sum_of_parts(group->parts[row + 1].values);
        double expected = 1.0 / (1.0 + exp(-output));
        double error = expected - group->targets[row >> 1];
        group->slopes[row >> 1] = (float)(2.0 * error * expected * (1.0 - expected));
        gradient[at_bias] += group->slopes[row >> 1];
        loss += error * error;
    }
    qz_list_rows(group);
    qz_list_outputs(group, outputs);
    for (start = 0; start < neurons; start += QZ_STRIPE) {
        float *values = group->values + start / QZ_STRIPE * rows_in_stripe;
        int output, side;
        for (output = 0; output < outputs; output++) {
            const int first = group->output_starts[output], count = group->output_starts[output + 1] - first;
            for (side = 0; side < 2 && count > 0; side++) {
                const size_t at = at_outputs + (size_t)(2 * output + side) * neurons + start;
                QZ_AT(spread)(values + side * QZ_STRIPE, group->slopes, group->by_output + first, count, weights + at,
                              gradient + at, gradient + at_biases + start);
            }
        }
        for (number = 0; number < group->count_of_listed; number++) {
            const int first = group->starts[number], end = group->starts[number + 1];
            QZ_AT(collect)(gradient + (size_t)group->listed[number] * neurons + start, values, group->rows + first, end - first);
        }
    }
    return loss;
}

/* One step for the weights `from` to `to`. The threads' gradients are added up, and set to 0 for the next batch. Moments
 * that have all but vanished are dropped: numbers so small are slow to calculate with. `from` is a multiple of QZ_STRIPE,
 * and whole vectors are done, which a block has room for. */
QZ_TARGET static void QZ_AT(adam)(float *weights, float *first, float *second, float **gradients, int threads, size_t from,
                                  size_t to, const qz_adam_plan *plan)
{
    const float kept = 1.0f - plan->rate * plan->decay;
    const float first_fix = plan->rate / plan->first_fix, second_fix = 1.0f / plan->second_fix;
    const QZ_FLOATS zeros = QZ_NO_FLOATS;
    size_t at;
    for (at = from; at < to; at += sizeof(QZ_FLOATS) / sizeof(float)) {
        QZ_FLOATS *weight = (QZ_FLOATS *)(weights + at), *mean = (QZ_FLOATS *)(first + at), *spread = (QZ_FLOATS *)(second + at);
        QZ_FLOATS slope = zeros;
        int thread;
        for (thread = 0; thread < threads; thread++) {
            slope += *(QZ_FLOATS *)(gradients[thread] + at);
            *(QZ_FLOATS *)(gradients[thread] + at) = zeros;
        }
        slope *= plan->scale;
        *mean = QZ_AT(not_tiny)(0.9f * *mean + 0.1f * slope, 1e-30f);
        *spread = QZ_AT(not_tiny)(0.999f * *spread + 0.001f * (slope * slope), 1e-36f);
        *weight = kept * *weight - first_fix * *mean / (QZ_AT(roots)(*spread * second_fix) + 1e-8f);
        *weight = QZ_AT(within)(*weight, -plan->most, plan->most);
    }
}

/* The nearest multiples of 1 / `steps`. Adding and taking away 3 * 2^22 leaves no bits for a fraction. */
QZ_TARGET static void QZ_AT(round)(float *QZ_RESTRICT rounded, const float *weights, size_t from, size_t to, float steps)
{
    const float coarse = 12582912.0f, step = 1.0f / steps;
    size_t i;
    for (i = from; i < to; i++)
        rounded[i] = ((weights[i] * steps + coarse) - coarse) * step;
}

/* The short weights of some rows, rounded the same way and set in stripes. */
QZ_TARGET static void QZ_AT(shorten)(int16_t *QZ_RESTRICT shorts, const float *QZ_RESTRICT weights, const qz_shape *shape,
                                     int from, int to)
{
    const float coarse = 12582912.0f, most = (float)QZ_MOST_SHORT;
    const int neurons = shape->neurons;
    int start, number, i;
    for (start = 0; start < neurons; start += QZ_STRIPE)
        for (number = from; number < to; number++) {
            const float *QZ_RESTRICT row = weights + (size_t)number * neurons + start;
            int16_t *QZ_RESTRICT target = shorts + (size_t)start * shape->rows + (size_t)number * QZ_STRIPE;
            for (i = 0; i < QZ_STRIPE; i++) {
                float value = (row[i] * QZ_SHORT_ONE + coarse) - coarse;
                value = value < most ? value : most;
                value = value > -most ? value : -most;
                target[i] = (int16_t)(int)value;
            }
        }
}

/* A feature's gradient over all king buckets and threads, which is that of its shared row. */
QZ_TARGET static void QZ_AT(gather)(float *QZ_RESTRICT sums, float **gradients, int threads, const qz_shape *shape, int feature)
{
    const int neurons = shape->neurons;
    int thread, number, i;
    memset(sums, 0, neurons * sizeof(float));
    for (thread = 0; thread < threads; thread++)
        for (number = feature; number < shape->rows; number += QZ_INPUTS) {
            const float *QZ_RESTRICT row = gradients[thread] + (size_t)number * neurons;
            for (i = 0; i < neurons; i++)
                sums[i] += row[i];
        }
}

/* Takes from a bucket's own row what its sum with the shared one is too large by. */
QZ_TARGET static void QZ_AT(confine)(float *own, const float *shared, int neurons, float most)
{
    int i;
    for (i = 0; i < neurons; i += sizeof(QZ_FLOATS) / sizeof(float)) {
        QZ_FLOATS *row = (QZ_FLOATS *)(own + i);
        const QZ_FLOATS sum = *row + *(const QZ_FLOATS *)(shared + i);
        *row += QZ_AT(within)(sum, -most, most) - sum;
    }
}

/* The row that positions are evaluated with. */
QZ_TARGET static void QZ_AT(merge)(float *merged, const float *own, const float *shared, int neurons, float most)
{
    int i;
    for (i = 0; i < neurons; i += sizeof(QZ_FLOATS) / sizeof(float))
        *(QZ_FLOATS *)(merged + i) = QZ_AT(within)(*(const QZ_FLOATS *)(own + i) + *(const QZ_FLOATS *)(shared + i), -most, most);
}

#undef QZ_NO_SHORTS
#undef QZ_NO_FLOATS
#undef QZ_SHORTS
#undef QZ_FLOATS
#undef QZ_IN_SHORTS
#undef QZ_IN_FLOATS
#undef QZ_AT
#undef QZ_TARGET
#undef QZ_VECTOR_BYTES
#undef QZ_ROOTS
#undef QZ_ADD_SHORTS
