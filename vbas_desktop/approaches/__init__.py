"""The strategies: one module per approach, siblings never import each other.

May use ``algorithms`` and ``model``. `base` holds what an approach is; `registry` finds them all, those of third
parties (entry-point group ``vbas_desktop.approaches``) included.
"""
