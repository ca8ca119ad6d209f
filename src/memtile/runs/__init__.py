"""One way to run: a program and the options of its run go in, a run comes out, whatever the front end."""
