"""Containers of programs: PDIs, xclbins, the ELF files of control code, and build folders."""
