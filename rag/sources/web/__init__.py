"""What comes from the web and by mail: pages, books, mails."""
