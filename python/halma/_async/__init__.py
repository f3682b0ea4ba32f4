"""The client for programs that wait for several things at once; `halma/_sync` is generated from it."""
