"""``aie.helpers``: types, loops, functions and access patterns."""
