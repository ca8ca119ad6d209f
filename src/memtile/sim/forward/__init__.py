"""Fast-forward: time that repeats is not stepped.

F is one cycle of the model and s its state. After a period of P cycles the columns of the state differ as
their class allows, if the model does the same again: F^P(s) = g(s), where g adds a constant to what counts,
moves the place of a walk, and the numbers of past cycles by P. As long as no comparison of something that g
moves with something that it does not can come out otherwise, g and F commute, and F^(nP)(s) = g^n(s). How
long that is, the guards say. Then all n periods are one jump, and their words are moved in the order in which
the period moved them.

``plan`` says which words of the state are compared, and how; ``period`` compares them; ``guards`` say how
often a period may repeat; ``segments`` and ``streams`` move the words; ``loop`` looks for periods while it
steps, when ``policy`` says so; ``places`` has what all of them know. ``docs/speed.md`` has the argument.
"""
