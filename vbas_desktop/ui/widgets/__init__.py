"""Parts that every page, panel and dialog is put together from. They know none of those."""
