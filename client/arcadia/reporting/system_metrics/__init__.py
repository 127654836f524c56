"""System metrics of a script: use of the processor, the memory and the GPUs, and traffic of its host."""
