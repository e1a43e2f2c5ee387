// SPDX-License-Identifier: BSD-2-Clause

/*
 * A driver for a Hypercast chip: find it, load an image, train, read results and counters.
 *
 * It needs hypercast.h of the chip's configuration (`hypercast verilog`), an image of the job
 * (`hypercast train --image`), and a bus: one of hypercast_mapped.h, hypercast_xdma.h and
 * hypercast_serial.h, or two functions of your own. Plain C99, no other I/O, no allocation.
 */
#ifndef HYPERCAST_DRIVER_H
#define HYPERCAST_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hypercast_result {
    HYPERCAST_OK,
    HYPERCAST_BUS_FAILED,          /* an access to a register failed */
    HYPERCAST_NO_ANSWER,           /* nobody answers, or not any more */
    HYPERCAST_REFUSED,             /* the chip refused an access */
    HYPERCAST_WAS_RESET,           /* the board was reset, or another program opened it */
    HYPERCAST_NOT_FOUND,           /* nothing at this address says that it is a Hypercast */
    HYPERCAST_WRONG_VERSION,       /* chip or image is of another interface version */
    HYPERCAST_WRONG_CONFIGURATION, /* chip or image has another configuration than hypercast.h */
    HYPERCAST_BAD_IMAGE,           /* it is no image, is cut short, or was changed */
    HYPERCAST_NOT_RESET,           /* the chip's reset does not end */
    HYPERCAST_STOPPED,             /* the program stopped with an error, see hypercast_cause */
    HYPERCAST_TIMED_OUT,           /* the chip did not end the program, as it should have */
    HYPERCAST_STANDING_STILL,      /* the program runs, but the chip counts no cycles */
    HYPERCAST_BUSY,                /* a program is running, or one that stalled keeps engines busy */
    HYPERCAST_NO_PROGRAM,          /* the image holds no program of this kind */
    HYPERCAST_LOST_COUNT           /* the chip counts other training steps than it was to do */
};

/*
 * How to reach the chip's AXI4-Lite port. Each access is of 32 bits, to the register at byte
 * `offset`, `count` times one after the other. A write may be held back until the next read.
 */
struct hypercast_bus {
    enum hypercast_result (*read)(void *context, uint32_t offset, uint32_t *values, size_t count);
    enum hypercast_result (*write)(void *context, uint32_t offset, const uint32_t *values,
                                   size_t count);
    void *context;
};

struct hypercast {
    struct hypercast_bus bus;
    uint32_t error;             /* bits HYPERCAST_ERROR_* of the last program that stopped */
    const unsigned char *image; /* has to stay where it is */
    size_t next_block; /* word at which the first block begins that is still to be written */
    uint32_t blocks;   /* blocks still to be written */
    uint32_t rows;     /* of the program that is loaded */
    uint32_t step;     /* training steps done */
};

/* A weight matrix or bias. Its values are elements times 2^exponent. */
struct hypercast_parameter {
    uint32_t rows, columns;
    int32_t exponent;
    uint32_t base, height; /* where it lies in the weight bank */
};

/* What went wrong, in words. */
const char *hypercast_message(enum hypercast_result result);

/* What stopped the last program that was STOPPED, in words: the first cause in `error`. */
const char *hypercast_cause(const struct hypercast *chip);

/* Find the chip, and check its version and configuration. */
enum hypercast_result hypercast_open(struct hypercast *chip, struct hypercast_bus bus);

/*
 * Check an image of `size` bytes, all of it before anything is written, and load what is needed for
 * the first training step.
 */
enum hypercast_result hypercast_load(struct hypercast *chip, const unsigned char *image,
                                     size_t size);

/* Training steps the image has learning rates for. */
uint32_t hypercast_steps(const struct hypercast *chip);

/* One training step. */
enum hypercast_result hypercast_train(struct hypercast *chip);

/* A forward pass without dropout, for its counters. */
enum hypercast_result hypercast_evaluate(struct hypercast *chip);

/* Cycles of the last program. */
enum hypercast_result hypercast_cycles(struct hypercast *chip, uint64_t *cycles);

/* A counter of the last program, summed over all cores; `index` is HYPERCAST_COUNTER_*. */
enum hypercast_result hypercast_counter(struct hypercast *chip, uint32_t index, uint64_t *sum);

/* Parameters of the network: W1, b1, W2, b2, and so on. */
uint32_t hypercast_parameters(const struct hypercast *chip);

/* Shape and present exponent of a parameter. */
enum hypercast_result hypercast_describe(struct hypercast *chip, uint32_t number,
                                         struct hypercast_parameter *parameter);

/* The elements of a parameter, row by row. */
enum hypercast_result hypercast_elements(struct hypercast *chip,
                                         const struct hypercast_parameter *parameter,
                                         int32_t *elements);

/* CRC-32 (ISO 3309) of bytes that come after others whose CRC is `crc`; of the first ones, 0. */
uint32_t hypercast_crc(uint32_t crc, const unsigned char *bytes, size_t count);

#ifdef __cplusplus
}
#endif

#endif
