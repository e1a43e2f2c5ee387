// SPDX-License-Identifier: BSD-2-Clause

/*
 * Trains on a chip:
 *
 *     train DEVICE IMAGE [PARAMETERS]
 *
 * DEVICE is serial:PORT[@BAUD], xdma:FILE, or mapped:FILE[@ADDRESS]. PARAMETERS is a file for what
 * was trained: a line for each matrix with rows, columns, exponent, and the elements row by row.
 */
#define _DEFAULT_SOURCE

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef HYPERCAST_HEADER
#define HYPERCAST_HEADER "hypercast.h"
#endif
#include HYPERCAST_HEADER
#include "hypercast_driver.h"
#include "hypercast_mapped.h"
#include "hypercast_tty.h"
#include "hypercast_xdma.h"

#define BAUD 3000000u

static void check(const struct hypercast *chip, enum hypercast_result result) {
    if (result == HYPERCAST_OK) return;
    fprintf(stderr, "error: %s", hypercast_message(result));
    if (result == HYPERCAST_STOPPED)
        fprintf(stderr, " (register error: 0x%" PRIx32 "): %s", chip->error, hypercast_cause(chip));
    fprintf(stderr, "\n");
    exit(1);
}

static void fail(const char *path) {
    fprintf(stderr, "error: %s: %s\n", path, strerror(errno));
    exit(1);
}

/* The part of `device` after its kind, if it is of that kind. */
static char *of_kind(char *device, const char *kind) {
    size_t length = strlen(kind);
    return strncmp(device, kind, length) ? NULL : device + length;
}

/* Cuts what follows an @ off a name; returns it as a number, or `otherwise`. */
static unsigned long number_after(char *name, unsigned long otherwise) {
    char *at = strrchr(name, '@'), *end;
    unsigned long number;
    if (!at) return otherwise;
    *at = '\0';
    errno = 0;
    number = strtoul(at + 1, &end, 0);
    if (end != at + 1 && !*end && !errno) return number;
    fprintf(stderr, "error: %s is no number\n", at + 1);
    exit(2);
}

static struct hypercast_bus open_bus(char *device) {
    static struct hypercast_mapped mapped;
    static struct hypercast_xdma xdma;
    static struct hypercast_tty tty;
    static struct hypercast_serial serial;
    char *path;
    if ((path = of_kind(device, "serial:"))) {
        unsigned long baud = number_after(path, BAUD);
        if (hypercast_tty_open(&tty, path, (uint32_t)baud)) fail(path);
        check(NULL, hypercast_tty_session(&tty, &serial));
        return hypercast_serial_bus(&serial);
    }
    if ((path = of_kind(device, "xdma:"))) {
        if (hypercast_xdma_open(&xdma, path)) fail(path);
        return hypercast_xdma_bus(&xdma);
    }
    if ((path = of_kind(device, "mapped:"))) {
        unsigned long address = number_after(path, 0);
        if (hypercast_mapped_open(&mapped, path, (off_t)address)) fail(path);
        return hypercast_mapped_bus(&mapped);
    }
    fprintf(stderr, "error: device %s is none of serial:PORT[@BAUD], xdma:FILE, "
                    "mapped:FILE[@ADDRESS]\n", device);
    exit(2);
}

static unsigned char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    unsigned char *content = NULL;
    long length = -1;
    if (file && !fseek(file, 0, SEEK_END)) length = ftell(file);
    if (length >= 0) {
        rewind(file);
        content = malloc((size_t)length + 1);
        if (content) *size = fread(content, 1, (size_t)length, file);
    }
    if (file) fclose(file);
    if (!content) fail(path);
    return content;
}

/* Says what a parameter is, and writes it to a file, if there is one. */
static void put_parameter(struct hypercast *chip, uint32_t number, FILE *file) {
    struct hypercast_parameter parameter;
    int32_t *elements;
    size_t count;
    check(chip, hypercast_describe(chip, number, &parameter));
    count = (size_t)parameter.rows * parameter.columns;
    elements = calloc(count, sizeof *elements);
    if (!elements) fail("parameter");
    check(chip, hypercast_elements(chip, &parameter, elements));
    printf("parameter %" PRIu32 ": %" PRIu32 " x %" PRIu32 ", first element %" PRId32
           " * 2^%" PRId32 "\n", number, parameter.rows, parameter.columns, elements[0],
           parameter.exponent);
    if (file) {
        fprintf(file, "%" PRIu32 " %" PRIu32 " %" PRId32, parameter.rows, parameter.columns,
                parameter.exponent);
        for (size_t i = 0; i < count; i++) fprintf(file, " %" PRId32, elements[i]);
        fprintf(file, "\n");
    }
    free(elements);
}

int main(int argc, char **argv) {
    struct hypercast chip;
    struct hypercast_bus bus;
    size_t size = 0;
    unsigned char *image;
    uint64_t cycles, correct, saturations;
    FILE *file = NULL;

    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: %s DEVICE IMAGE [PARAMETERS]\n", argv[0]);
        return 2;
    }
    image = read_file(argv[2], &size);
    if (argc == 4 && !(file = fopen(argv[3], "w"))) fail(argv[3]);
    bus = open_bus(argv[1]);
    check(&chip, hypercast_open(&chip, bus));
    check(&chip, hypercast_load(&chip, image, size));
    for (uint32_t step = 0; step < hypercast_steps(&chip); step++) {
        check(&chip, hypercast_train(&chip));
        check(&chip, hypercast_cycles(&chip, &cycles));
        check(&chip, hypercast_counter(&chip, HYPERCAST_COUNTER_SATURATIONS, &saturations));
        check(&chip, hypercast_evaluate(&chip));
        check(&chip, hypercast_counter(&chip, HYPERCAST_COUNTER_CORRECT_TEST, &correct));
        printf("step %" PRIu32 ": %" PRIu64 " cycles, %" PRIu64 " saturations, %" PRIu64
               " test vertices correct\n", step, cycles, saturations, correct);
        fflush(stdout);
    }
    for (uint32_t number = 0; number < hypercast_parameters(&chip); number++)
        put_parameter(&chip, number, file);
    if (file && fclose(file)) fail(argv[3]);
    free(image);
    return 0;
}
