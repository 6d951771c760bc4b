/* What the engine's loops and the trainer's agree on: the shape of the network, and what 1.0 is in whole numbers. */
#ifndef QUETZAL_NETWORK_SHAPE_H
#define QUETZAL_NETWORK_SHAPE_H

enum {
    QZ_INPUTS = 768, /* own and enemy, six kinds, 64 squares */
    QZ_MOST_NEURONS = 1024,
    QZ_MOST_OUTPUTS = 8, /* by the number of men */
    QZ_MOST_KING_BUCKETS = 8, /* by the square of a side's own king */
    QZ_ACTIVATION_ONE = 255, /* in an accumulator */
    QZ_OUTPUT_ONE = 64, /* in the output weights */
    QZ_CENTIPAWNS = 180 /* to one unit of the output of a new network; docs/training.md says why */
};

#endif
