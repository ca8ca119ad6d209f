"""Texts of programs of IRON with holes, one for each layer."""
