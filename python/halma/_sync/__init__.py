"""The client that returns when an answer is there."""
