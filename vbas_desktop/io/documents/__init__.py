"""Read and write the documents of the program: run.json, solutions, hierarchies, policies, populations."""
