"""Objects: attributes (`attributes`), how a name is looked up (`lookup`), how instances are made
(`construct`), and class statements (`classes`)."""
