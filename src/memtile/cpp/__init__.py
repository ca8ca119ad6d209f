"""C++ kernels on the host: built once, loaded once for each core, called in simulated time."""
