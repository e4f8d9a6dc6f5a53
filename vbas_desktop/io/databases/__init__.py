"""Records where they live: datasets larger than memory and tables of database servers, behind one interface.

Counting and joining happen where the records are; the program receives counts. The packages that reach the engines are
optional and imported only when an address asks for them.
"""
