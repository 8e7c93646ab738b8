#ifndef FUZZ_H
#define FUZZ_H

/* What a fuzz target offers: clang's libFuzzer calls it with bytes of its own, tests/fuzz/replay.c with files. */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#endif
