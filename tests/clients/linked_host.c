/* A host program as AMD's simulators link them, for test_linked_host.py: registers, NPI, external memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "main_rts.h"

#define ARRAY 0x20000000000ull
#define TILE(column, row) (ARRAY | (uint64_t)(column) << 25 | (uint64_t)(row) << 20)
#define IN 0x100000000ull
#define OUT 0x100010000ull /* the memory behind the first one */
#define WORDS 600

static void expect(const char *what, unsigned got, unsigned wanted) {
    if (got != wanted) {
        printf("%s: %#x, not %#x\n", what, got, wanted);
        exit(1);
    }
}

static void descriptor(uint64_t at, unsigned words, unsigned low, unsigned high, unsigned valid) {
    const unsigned image[8] = {words, low, high, 0, 0, 0, 0, valid};
    for (int n = 0; n < 8; n++)
        ess_Write32(at + 4 * n, image[n]);
}

/* External memory to the memory tile and back. */
static void move(void) {
    const uint64_t shim = TILE(0, 0), memory = TILE(0, 1);
    ess_Write32(shim + 0x1F000, 1 << 10);
    ess_Write32(shim + 0x1F004, 1 << 4);
    ess_Write32(shim + 0x3F030, 1u << 31 | 5);
    ess_Write32(shim + 0x3F114, 1u << 31);
    ess_Write32(memory + 0xB0000, 1u << 31 | 7);
    ess_Write32(memory + 0xB011C, 1u << 31);
    ess_Write32(memory + 0xB001C, 1u << 31);
    ess_Write32(memory + 0xB0100, 1u << 31);
    ess_Write32(shim + 0x3F010, 1u << 31 | 14);
    ess_Write32(shim + 0x3F138, 1u << 31);
    descriptor(shim + 0x1D000, WORDS, (unsigned)IN, (unsigned)(IN >> 32), 1u << 25);
    descriptor(shim + 0x1D020, WORDS, (unsigned)OUT, (unsigned)(OUT >> 32), 1u << 25);
    descriptor(memory + 0xA0000, WORDS, 0x20000, 0, 1u << 31);
    ess_Write32(memory + 0xA0604, 0);
    ess_Write32(shim + 0x1D214, 0);
    for (int tries = 0; ess_Read32(memory + 0xA0660) & 0x78003C; tries++)
        if (tries == 1000)
            exit(2);
    ess_Write32(shim + 0x1D204, 1);
    ess_Write32(memory + 0xA0634, 0);
    unsigned last = 0;
    for (int tries = 0; last == 0; tries++) { /* a host may wait for data in memory alone */
        if (tries == 1000)
            exit(3);
        ess_ReadGM(OUT + 4 * (WORDS - 1), &last, 4);
    }
}

int main(void) {
    static unsigned char data[4 * WORDS], back[4 * WORDS], odd[7], across[64], seen[64];
    for (int n = 0; n < 4 * WORDS; n++)
        data[n] = (unsigned char)(n * 37 + n / 256);
    ess_WriteCmd(1, 2, 3, 4, 5, (unsigned char *)"kernel.elf");
    ess_NpiWrite32(0xF70A000C, 0xF9E8D7C6);
    expect("NPI register", ess_NpiRead32(0xF70A000C), 0xF9E8D7C6);
    ess_Write32(TILE(1, 1) + 0x100, 0x80000001);
    expect("data memory", ess_Read32(TILE(1, 1) + 0x100), 0x80000001);

    ess_WriteGM(IN, data, sizeof data);
    move();
    ess_ReadGM(OUT, back, sizeof back);
    expect("what came back", (unsigned)memcmp(data, back, sizeof data), 0);
    ess_WriteGM(IN + 5, "memtile", 7); /* no word begins or ends there */
    ess_ReadGM(IN + 5, odd, 7);
    expect("single bytes", (unsigned)memcmp(odd, "memtile", 7), 0);
    ess_ReadGM(IN, back, 16);
    expect("bytes before", (unsigned)memcmp(data, back, 5), 0);
    expect("bytes behind", (unsigned)memcmp(data + 12, back + 12, 4), 0);
    for (int n = 0; n < 64; n++)
        across[n] = (unsigned char)(n + 1);
    ess_WriteGM(OUT - 32, across, 64); /* the end of one memory and the beginning of the next one */
    ess_ReadGM(OUT - 32, seen, 64);
    expect("two memories", (unsigned)memcmp(across, seen, 64), 0);
    puts("all well");
    ess_ReadGM(OUT + 0x10000, seen, 4); /* there is none: ends the program */
    return 0;
}
