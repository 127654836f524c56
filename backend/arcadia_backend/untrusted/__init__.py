"""Parsing of content from strangers whose parsers recurse, allocate or compute without a limit.

reading        `parse`, which runs one parser in a limited process
child          the program of that process
torch_pickles  parser of the pickle in a file of torch
yaml_and_toml  parser of YAML and TOML

docs/decisions/0076-untrusted-files.md says which content is parsed here, and why other content is not.
"""
