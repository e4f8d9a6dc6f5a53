"""The words of the program as frozen data: records, regions, problems, solutions. No I/O, numpy only."""
