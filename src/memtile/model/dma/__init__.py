"""DMA channels: address generators, buffers, descriptors, task queues (AM020, memory tile DMA)."""
