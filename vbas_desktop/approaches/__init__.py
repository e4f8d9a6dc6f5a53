"""The strategies: one module per approach, siblings never import each other.

May use ``algorithms`` and ``model``. `interface` holds what an approach is, `context` what it sees; `registry` finds
them all, those of third parties (entry-point group ``vbas_desktop.approaches``) included.
"""
