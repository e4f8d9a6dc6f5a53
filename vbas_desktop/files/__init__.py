"""The outside world: record files, region files, generated data, project files.

Besides ``release``, the only room that opens user files. May use ``domain``, ``algorithms`` and ``approaches``.
"""
