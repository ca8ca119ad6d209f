/* The seven functions through which host programs reach a simulator of the array; memtile_ess.c has them.
 *
 * AMD's open driver includes a header of this name when it is built with -D__AIESIM__. Addresses are
 * absolute: 0x20000000000 and up is the array, 0xF70A0000 and up its NPI registers, and external memory is
 * where `memtile serve --memory` put it.
 */
#ifndef MAIN_RTS_H
#define MAIN_RTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Registers and data memory of the array, one 32-bit word. */
void ess_Write32(uint64_t address, unsigned int value);
unsigned int ess_Read32(uint64_t address);

/* Registers of the array in the NoC programming interface. */
void ess_NpiWrite32(uint64_t address, unsigned int value);
unsigned int ess_NpiRead32(uint64_t address);

/* External memory ("global memory"), any number of bytes. */
void ess_WriteGM(uint64_t address, const void *data, uint64_t size);
void ess_ReadGM(uint64_t address, void *data, uint64_t size);

/* Commands to the simulator itself, such as which program a core runs: there is nothing to do for them here,
 * which is said on stderr. */
void ess_WriteCmd(unsigned char command, unsigned char column, unsigned char row, unsigned int word0,
                  unsigned int word1, unsigned char *text);

#ifdef __cplusplus
}
#endif

#endif
