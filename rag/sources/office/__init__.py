"""Files of office programs: documents, presentations, spreadsheets, rich text."""
