"""Other people's runtimes that use the twin as their device: the addresses and sockets that they expect."""
