"""Tests of designs: what each is run with, what must come out, and in how many cycles."""
