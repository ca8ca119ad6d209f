"""What cores do: kernels in Python, what they ask for, and what they see."""
