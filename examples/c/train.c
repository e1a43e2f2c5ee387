/*
 * Trains on a chip whose registers can be mapped from a file, such as /dev/uio0 or a PCIe resource:
 *
 *     train FILE IMAGE
 */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hypercast.h"
#include "hypercast_driver.h"

#define REGISTER_BYTES 4096
#define CYCLE_LIMIT UINT64_C(1000000000)

/* The two functions that a system has to supply; here, registers are memory. */

static int read_register(void *context, uint32_t offset, uint32_t *value) {
    *value = ((volatile uint32_t *)context)[offset / 4];
    return 0;
}

static int write_register(void *context, uint32_t offset, uint32_t value) {
    ((volatile uint32_t *)context)[offset / 4] = value;
    return 0;
}

static void *map_registers(const char *path) {
    int file = open(path, O_RDWR | O_SYNC);
    void *registers = MAP_FAILED;
    if (file >= 0) {
        registers = mmap(NULL, REGISTER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
    }
    if (registers != MAP_FAILED) return registers;
    perror(path);
    exit(1);
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
    if (content) return content;
    perror(path);
    exit(1);
}

static void check(const struct hypercast *chip, enum hypercast_result result) {
    if (result == HYPERCAST_OK) return;
    fprintf(stderr, "error: %s", hypercast_message(result));
    if (result == HYPERCAST_STOPPED) fprintf(stderr, " (register error: 0x%" PRIx32 ")", chip->error);
    fprintf(stderr, "\n");
    exit(1);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s FILE IMAGE\n", argv[0]);
        return 2;
    }
    struct hypercast chip;
    struct hypercast_bus bus = {read_register, write_register, map_registers(argv[1])};
    size_t size = 0;
    unsigned char *image = read_file(argv[2], &size);
    uint64_t cycles, correct, saturations;

    check(&chip, hypercast_open(&chip, bus, CYCLE_LIMIT));
    check(&chip, hypercast_load(&chip, image, size));
    for (uint32_t step = 0; step < hypercast_steps(&chip); step++) {
        check(&chip, hypercast_train(&chip));
        check(&chip, hypercast_cycles(&chip, &cycles));
        check(&chip, hypercast_counter(&chip, HYPERCAST_COUNTER_SATURATIONS, &saturations));
        check(&chip, hypercast_evaluate(&chip));
        check(&chip, hypercast_counter(&chip, HYPERCAST_COUNTER_CORRECT_TEST, &correct));
        printf("step %" PRIu32 ": %" PRIu64 " cycles, %" PRIu64 " saturations, %" PRIu64
               " test vertices correct\n", step, cycles, saturations, correct);
    }
    for (uint32_t number = 0; number < hypercast_parameters(&chip); number++) {
        struct hypercast_parameter parameter;
        int32_t *elements;
        check(&chip, hypercast_describe(&chip, number, &parameter));
        elements = calloc((size_t)parameter.rows * parameter.columns, sizeof *elements);
        if (!elements) return 1;
        check(&chip, hypercast_elements(&chip, &parameter, elements));
        printf("parameter %" PRIu32 ": %" PRIu32 " x %" PRIu32 ", first element %" PRId32
               " * 2^%" PRId32 "\n", number, parameter.rows, parameter.columns, elements[0],
               parameter.exponent);
        free(elements);
    }
    free(image);
    return 0;
}
