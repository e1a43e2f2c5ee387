// SPDX-License-Identifier: BSD-2-Clause

// What evaluates cores consists of: vectors that have an element for each core of a group, and
// where a group keeps them. sizes.h, written by chip_header.py, has the sizes.

#pragma once

#include "sizes.h"

#include <cstddef>
#include <cstdint>

#define VECTOR(bits) \
    typedef uint##bits##_t u##bits __attribute__((vector_size(kCount * bits / 8))); \
    typedef int##bits##_t s##bits __attribute__((vector_size(kCount * bits / 8)))
VECTOR(8);
VECTOR(16);
VECTOR(32);
VECTOR(64);

// The vector `offset` bytes of each core beyond the beginning of an area.
#define AT(bits, area, offset) (*(u##bits *)((area) + (offset) * kCount))
#define ALL(bits, value) (u##bits{} + uint##bits##_t(value))
#define TO(bits, vector) __builtin_convertvector(vector, u##bits)
// The same numbers, with sign, in longer elements.
#define EXTEND(bits, from, vector) ((u##bits)__builtin_convertvector((s##from)(vector), s##bits))
// Ones where an element of a vector of 8 bits is not zero.
#define MASK(bits, choice) ((u##bits)__builtin_convertvector((s8)((choice) != 0), s##bits))
#define CHOOSE(bits, mask, yes, no) ((s##bits)(mask) ? (yes) : (no))
#define BIT(bits, comparison) ((u8)__builtin_convertvector((s##bits)(comparison), s8) & 1)
#define SOME(bits, vector) BIT(bits, (vector) != 0)
#define EQUAL(bits, first, second) BIT(bits, (first) == (second))
#define LESS(bits, first, second) BIT(bits, (first) < (second))
#define SIGNED_LESS(bits, first, second) BIT(bits, (s##bits)(first) < (s##bits)(second))
#if defined(__clang__)
#define SHUFFLE(bits, vector, ...) __builtin_shufflevector(vector, vector, __VA_ARGS__)
#else
#define SHUFFLE(bits, vector, ...) __builtin_shuffle(vector, u##bits{__VA_ARGS__})
#endif
// Parities.
#define HALVE(bits, half, vector) TO(half, (vector) ^ (vector) >> half)
#define ODD(vector) odd(vector)
inline u8 odd(u8 value) {
    value ^= value >> 4;
    value ^= value >> 2;
    return (value ^ value >> 1) & 1;
}
// Shifts; FAR ones by numbers that may be beyond an element.
#define LEFT(bits, vector, by) ((vector) << (by))
#define RIGHT(bits, vector, by) ((vector) >> (by))
#define SHIFT(bits, vector, by) ((u##bits)((s##bits)(vector) >> (by)))
#define SIGNED_RIGHT(bits, vector, by) ((u##bits)((s##bits)(vector) >> (s##bits)(by)))
#define NEAR(bits, by) ((u##bits)((by) < bits))
#define LEFT_FAR(bits, vector, by) (NEAR(bits, by) & ((vector) << ((by) & (bits - 1))))
#define RIGHT_FAR(bits, vector, by) (NEAR(bits, by) & ((vector) >> ((by) & (bits - 1))))
#define SIGNED_RIGHT_FAR(bits, vector, by) \
    SIGNED_RIGHT(bits, vector, CHOOSE(bits, (by) < bits, by, ALL(bits, bits - 1)))

// Cores that are evaluated together.
struct Group {
    char *inputs;                           // ports of the core
    char *shown;                            // what the part `rest` shows others in the same cycle
    char *state[kParts], *next[kParts];     // registers, now and after the clock's edge
    char *scratch[kParts];                  // what functions leave for each other
    uint32_t *memory[kMemories * kMembers]; // words, in chunks of 32 bits, of each core
    bool wrote;                             // whether a memory was changed
};

inline bool put(uint32_t &word, uint32_t value, uint32_t mask) {
    value = (word & ~mask) | (value & mask);
    bool changed = value != word;
    word = value;
    return changed;
}
