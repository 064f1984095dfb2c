"""Typed parameters of a study: params.yaml and the files of config/, checked before anything runs."""
