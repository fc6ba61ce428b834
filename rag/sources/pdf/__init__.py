"""PDF: pages, reading order, tables, headings, and what the text of a page is worth."""
