/* A host program for test_serve_cores.py: it sets a design up, enables its cores, gives them work and waits.

   register_accesses.h has the accesses of the design that is compiled in, as AMD's driver would make them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "main_rts.h"

#define ALL 0xFFFFFFFFu
#define TRIES 5000

struct access {
    uint64_t address;
    uint32_t mask, value;
};

#include "register_accesses.h"

static void make(const struct access *list, size_t count) {
    for (size_t n = 0; n < count; n++) {
        uint32_t before = list[n].mask == ALL ? 0 : ess_Read32(list[n].address) & ~list[n].mask;
        ess_Write32(list[n].address, before | list[n].value);
    }
}
#define MAKE(list) make(list, sizeof(list) / sizeof(list[0]))

/* Core_Control: XAie_CoreReset, XAie_CoreUnreset, XAie_CoreEnable. */
static void start_core(void) {
    const struct access starts[] = {{CORE_CONTROL, 2, 2}, {CORE_CONTROL, 2, 0}, {CORE_CONTROL, 1, 1}};
    MAKE(starts);
}

/* XAie_DmaWaitForDone on the channel that writes the results. */
static int is_done(void) {
    for (int n = 0; n < TRIES; n++)
        if ((ess_Read32(OUT_STATUS) & 0x0078003C) == 0)
            return 1;
    return 0;
}

static int32_t number(unsigned n) { return (int32_t)(n * 2654435761u >> 24) - 128; }

#ifdef GEMM
static int16_t left[SIZE][SIZE], right[SIZE][SIZE];
static int32_t product[SIZE][SIZE];

static void give(void) {
    for (unsigned n = 0; n < SIZE * SIZE; n++) {
        left[n / SIZE][n % SIZE] = (int16_t)number(n);
        right[n / SIZE][n % SIZE] = (int16_t)number(n + 7777);
    }
    ess_WriteGM(ARGUMENT_0, left, sizeof left);
    ess_WriteGM(ARGUMENT_1, right, sizeof right);
}

static void forget(void) {
    memset(product, 0, sizeof product);
    ess_WriteGM(ARGUMENT_2, product, sizeof product);
}

static int count_wrong(void) {
    int wrong = 0;
    ess_ReadGM(ARGUMENT_2, product, sizeof product);
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            int32_t sum = 0;
            for (int k = 0; k < SIZE; k++)
                sum += left[i][k] * right[k][j];
            wrong += product[i][j] != sum;
        }
    return wrong;
}
#else
static int32_t words[SIZE], sums[SIZE];

static void give(void) {
    for (unsigned n = 0; n < SIZE; n++)
        words[n] = number(n);
    ess_WriteGM(ARGUMENT_0, words, sizeof words);
}

static void forget(void) {
    memset(sums, 0, sizeof sums);
    ess_WriteGM(ARGUMENT_1, sums, sizeof sums);
}

static int count_wrong(void) {
    int wrong = 0;
    int32_t sum = 0;
    ess_ReadGM(ARGUMENT_1, sums, sizeof sums);
    for (int n = 0; n < SIZE; n++) {
        sum += words[n];
        wrong += sums[n] != sum;
    }
    return wrong;
}
#endif

static void report(const char *what) {
    if (!is_done())
        printf("%s: it never ends\n", what);
    else
        printf("%s: %d wrong\n", what, count_wrong());
    fflush(stdout);
}

int main(void) {
    MAKE(configuration);
    start_core();
    give();
    MAKE(instructions);
    report("first");
    forget();
    start_core(); /* its body begins anew */
    MAKE(instructions);
    report("after a reset");
    return 0;
}
