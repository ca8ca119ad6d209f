"""C++ kernels on the host: found a compiler, built once, loaded once for each core, called in simulated time."""
