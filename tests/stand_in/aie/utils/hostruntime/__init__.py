"""The host runtime and its tensors."""
