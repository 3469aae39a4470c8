"""Objects: their attributes, and those of classes (`attributes`), how a name is looked up
(`lookup`), and how instances are made and let go (`construct`)."""
