"""Objects: their attributes, and those of classes (`attributes`), how a name is looked up
(`lookup`), how instances are made (`construct`), and what their end does (`lifetimes`)."""
